import type { Parsed } from "./parse-arguments.ts";
import { acts, type Call, type Family, type Spec } from "./spec.ts";

const raises = ["privilege", "raises-privilege", "runs a program with other rights"] as const;
const changes = (what: string): Spec => acts("privilege", "raises-privilege", what);

const su = ({ walk, scope }: Call, parsed: Parsed): undefined => {
  for (const text of parsed.values("-c", "--command")) walk.script(text, scope.fresh(), undefined);
};

/** Programs that change rights. */
export const privilege: Family = {
  "sudo doas": {
    style: "posix",
    options:
      "-[AbEHiknPSsKlvV] -u=text -g=text -C=text -p=text -r=text -t=text -T=text -U=text -h=text --user=text --group=text --preserve-env?=text --non-interactive --login --shell --stdin --set-home",
    operands: "command",
    does: raises,
  },
  "pkexec runuser setpriv gosu su-exec": {
    style: "posix",
    options: "-u=text --user=text -g=text --keep-cwd",
    operands: "command",
    does: raises,
  },
  su: {
    options: "-[lmpP] -c=text -s=text -g=text --login --command=text --shell=text",
    operands: "text...",
    does: raises,
    judge: su,
  },
  "chroot nsenter unshare": {
    style: "posix",
    options:
      "-[mupinUrfCT] -t=number -S=text -G=text --target=number --mount --pid --net --user --map-root-user --fork",
    operands: "command",
    does: raises,
    judge: ({ walk, scope, name }, { operands }) => {
      if (name === "chroot") walk.run(operands.slice(1), scope, undefined);
      return undefined;
    },
  },
  "useradd userdel usermod groupadd groupdel adduser deluser groupmod newgrp chfn chsh chage gpasswd passwd chpasswd visudo vipw":
    {
      ...changes("changes who may use this machine"),
      judge: ({ name, walk }) => {
        if (/^(?:userdel|groupdel|deluser)$/.test(name))
          walk.report("destructive", "deletes-account", `${name} deletes an account`);
        return undefined;
      },
    },
  "insmod modprobe rmmod depmod kexec setenforce setsebool aa-disable auditctl": changes(
    "changes the kernel or its rules",
  ),
  "gpg gpg2 pass op vault security keyring ssh-add ssh-agent gpg-agent": {
    style: "words",
    does: ["unknown", "uses-keys", "uses keys or passwords"],
    secrets: true,
  },
};
