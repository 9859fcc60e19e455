import { acts, type Family, type Spec } from "./spec.ts";

const raises = "privilege raises-privilege runs a program with other rights";
const changes = (what: string): Spec => acts(`privilege raises-privilege ${what}`);

/** Programs that change rights. */
export const privilege: Family = {
  "sudo doas": {
    style: "posix",
    usage:
      "-[AbEHiknPSsKlvV] -u=text -g=text -C=text -p=text -r=text -t=text -T=text -U=text -h=text --user=text --group=text --preserve-env?=text --non-interactive --login --shell --stdin --set-home command",
    does: raises,
  },
  "pkexec runuser setpriv gosu su-exec": {
    style: "posix",
    usage: "-u=text --user=text -g=text --keep-cwd command",
    does: raises,
  },
  su: {
    usage: "-[lmpP] -c=shell -s=text -g=text --login --command=shell --shell=text text...",
    does: raises,
  },
  "chroot nsenter unshare": {
    style: "posix",
    usage:
      "-[mupinUrfCT] -t=number -S=text -G=text --target=number --mount --pid --net --user --map-root-user --fork command",
    does: raises,
    judge: ({ walk, scope, name }, { operands }) => {
      if (name === "chroot") walk.run(operands.slice(1), scope, undefined);
    },
  },
  "useradd usermod groupadd adduser groupmod newgrp chfn chsh chage gpasswd passwd chpasswd visudo vipw":
    changes("changes who may use this machine"),
  "userdel groupdel deluser": "=> destructive deletes-account deletes an account",
  "insmod modprobe rmmod depmod kexec setenforce setsebool aa-disable auditctl": changes(
    "changes the kernel or its rules",
  ),
  "gpg gpg2 pass op vault security keyring ssh-add ssh-agent gpg-agent": {
    style: "words",
    does: "unknown uses-keys uses keys or passwords",
    secrets: true,
  },
};
