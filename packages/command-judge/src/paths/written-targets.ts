import type { CommandVerdict } from "../judgement.ts";
import type { ResolvedPath } from "./resolve-path.ts";

interface Target {
  readonly pattern: RegExp;
  readonly verdict: CommandVerdict;
  readonly code: string;
  readonly text: string;
}

const targets: readonly Target[] = [
  {
    pattern:
      /^\/dev\/(?:[shv]d[a-z]|nvme\d|mmcblk\d|xvd[a-z]|r?disk\d|mapper\/|md\d|loop\d|dm-\d|k?mem$|port$)/,
    verdict: "destructive",
    code: "writes-device",
    text: "writes to a disk or to memory",
  },
  {
    pattern:
      /^\/etc\/(?:passwd|g?shadow|group|sudoers|pam\.d|doas\.conf|polkit-1|ld\.so\.preload|ssh\/sshd_config)/,
    verdict: "privilege",
    code: "writes-accounts",
    text: "changes who may do what on this machine",
  },
  {
    pattern: /^\/(?:proc|sys)\//,
    verdict: "privilege",
    code: "writes-kernel",
    text: "changes a setting of the kernel",
  },
  {
    pattern: /^\/(?:boot|efi|bin|sbin|lib\d*|usr\/(?:bin|sbin|lib\d*))\//,
    verdict: "destructive",
    code: "writes-system",
    text: "replaces a part of the system",
  },
  {
    pattern: /\/\.ssh\/(?:authorized_keys|config|rc|environment)$/,
    verdict: "privilege",
    code: "opens-login",
    text: "changes who may log in or what a login runs",
  },
  {
    pattern:
      /(?:\/\.(?:bashrc|bash_profile|bash_login|bash_logout|profile|zshrc|zshenv|zprofile|zlogin|xinitrc|xprofile|inputrc|gitconfig)|\/\.config\/(?:autostart|systemd|fish|git)\/.*|^\/etc\/(?:cron.*|profile.*|bash.*|rc\.local|init\.d.*|systemd.*|environment)|\/var\/spool\/cron.*|\/library\/launch(?:agents|daemons)\/.*)$/i,
    verdict: "execute",
    code: "persists",
    text: "is run later without a question",
  },
  {
    pattern: /\/\.git\/(?:hooks\/|config$|info\/attributes$)|\/\.(?:husky|githooks)\//,
    verdict: "execute",
    code: "git-hook",
    text: "is run by git later on",
  },
];

/** Calls `report` with what it amounts to that a file is written. */
export const noteWritten = (
  report: (verdict: CommandVerdict, code: string, text: string) => void,
  named: string,
  found: ResolvedPath,
): void => {
  if (found.unknown) report("unknown", "unknown-path", `it writes a path that is not known: ${named}`);
  report("write", "writes-file", `it writes ${found.path}`);
  for (const { pattern, verdict, code, text } of targets)
    if (pattern.test(found.path)) report(verdict, code, `it writes ${found.path}, which ${text}`);
};
