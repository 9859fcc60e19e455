import type { Findings } from "../findings.ts";
import { noteEffect, type Row } from "../programs/spec.ts";
import type { PathJudgement } from "./resolve-path.ts";

const targets: readonly Row[] = [
  [
    /^\/dev\/(?:[shv]d[a-z]|nvme\d|mmcblk\d|xvd[a-z]|r?disk\d|mapper\/|md\d|loop\d|dm-\d|k?mem$|port$)/,
    "destructive writes-device writes to a disk or to memory",
  ],
  [
    /^\/etc\/(?:passwd|g?shadow|group|sudoers|pam\.d|doas\.conf|polkit-1|ld\.so\.preload|ssh\/sshd_config)/,
    "privilege writes-accounts changes who may do what on this machine",
  ],
  [/^\/(?:proc|sys)\//, "privilege writes-kernel changes a setting of the kernel"],
  [
    /^\/(?:boot|efi|bin|sbin|lib\d*|usr\/(?:bin|sbin|lib\d*))\//,
    "destructive writes-system replaces a part of the system",
  ],
  [
    /\/\.ssh\/(?:authorized_keys|config|rc|environment)$/,
    "privilege opens-login changes who may log in or what a login runs",
  ],
  [
    /(?:\/\.(?:bashrc|bash_profile|bash_login|bash_logout|profile|zshrc|zshenv|zprofile|zlogin|xinitrc|xprofile|inputrc|gitconfig)|\/\.config\/(?:autostart|systemd|fish|git)\/.*|^\/etc\/(?:cron.*|profile.*|bash.*|rc\.local|init\.d.*|systemd.*|environment)|\/var\/spool\/cron.*|\/library\/launch(?:agents|daemons)\/.*)$/i,
    "execute persists is run later without a question",
  ],
  [
    /\/\.git\/(?:hooks\/|config$|info\/attributes$)|\/\.(?:husky|githooks)\//,
    "execute git-hook is run by git later on",
  ],
];

/** Notes what it amounts to that a file is written. */
export const noteWritten = (walk: Findings, named: string, found: PathJudgement): void => {
  if (found.unknown) walk.unknown("unknown-path", `it writes a path that is not known: ${named}`);
  walk.report("write", "writes-file", `it writes ${found.path}`);
  for (const [pattern, does] of targets)
    if (pattern.test(found.path)) noteEffect(walk, does, `it writes ${found.path}, which`);
};
