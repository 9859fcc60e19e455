import type { Program } from "../call.ts";
import { isLocal } from "../destinations.ts";
import { isUnknown, shown } from "../marks.ts";
import { readOptions } from "../options.ts";
import { ShellState } from "../shell-state.ts";
import { entries } from "./program-entry.ts";

const sshValued = "B b c D E e F I i J L l m O o p P Q R S W w";

/** Options of ssh that run programs here. */
const localCommands = (options: readonly string[]): readonly string[] =>
  options.flatMap(
    (option) => /^(?:ProxyCommand|LocalCommand|KnownHostsCommand)[= ]\s*(.*)$/is.exec(option)?.[1] ?? [],
  );

const ssh: Program = ({ args, run, state, stdin, name }) => {
  const options = readOptions(args, sshValued, true);
  for (const text of localCommands(options.values("o"))) run.script(text, state.clone(), stdin);
  if (options.has("V") || options.has("G")) return undefined;
  for (const path of options.values("F")) run.read(path, state);
  const [host = "", ...words] = options.operands;
  run.noteNetwork();
  run.report("write", "network", `${name} logs in to ${shown(host)}`);
  if (options.has("L", "R", "D", "w", "W")) run.report("exfiltration", "tunnel", `${name} opens a tunnel`);
  if (stdin !== undefined && !isLocal(host))
    run.report("exfiltration", "sends-data", `${name} sends its input to another machine`);
  if (isUnknown(host) || options.uncertain)
    run.report("unknown", "unknown-address", "it is not known where it logs in");
  const text = words.join(" ");
  // Elsewhere neither files nor folders are those of this machine.
  if (words.length > 0) run.script(text, new ShellState(undefined), stdin);
  else if (stdin !== undefined) run.script(stdin, new ShellState(undefined), undefined);
  else run.report("unknown", "interactive", "it is not known what runs on the other machine");
  if (/[\uE001\uE002]/.test(text))
    run.report("exfiltration", "sends-data", `${name} sends what a program printed`);
  return undefined;
};

const isRemote = (path: string): boolean => /^(?:[^/:@]+@)?[^/:]+:|^(?:rsync|ssh|sftp|scp):\/\//.test(path);

const copyRemote: Program = ({ args, run, state, stdin, name }) => {
  const options = readOptions(
    args,
    name === "rsync"
      ? "e f M T B rsh filter include exclude include-from exclude-from files-from rsync-path log-file temp-dir compare-dest link-dest backup-dir password-file out-format port chmod bwlimit timeout"
      : "c F i J l o P S X b B D R s",
  );
  for (const text of [...localCommands(options.values("o")), ...options.values("S")])
    run.script(text, state.clone(), undefined);
  if (name === "rsync")
    for (const text of options.values("e", "rsh"))
      if (!/^ssh(?:\s|$)/.test(text)) run.script(text, state.clone(), stdin);
  if (name === "rsync")
    for (const text of options.values("rsync-path")) run.script(text, state.clone(), stdin);
  for (const path of options.values("b", "files-from", "password-file"))
    if (name !== "rsync" || path.length > 0) run.read(path, state);
  const sources = options.operands.slice(0, -1);
  const target = options.operands.at(-1) ?? "";
  for (const path of sources) if (!isRemote(path)) run.read(path, state);
  run.report("write", "changes-files", `${name} copies files`);
  if (options.operands.some(isRemote)) run.noteNetwork();
  if (isRemote(target)) run.report("exfiltration", "remote-copy", `${name} sends files to ${shown(target)}`);
  else if (isUnknown(target) || options.uncertain)
    run.report("unknown", "unknown-arguments", `it is not known where ${name} copies to`);
  else run.write(target, state);
  if (options.has("delete", "delete-before", "delete-after", "delete-excluded", "remove-source-files"))
    run.report("destructive", "sweeping-delete", `${name} deletes files that are not in its source`);
  return undefined;
};

const sftp: Program = ({ run, name, stdin, args, state }) => {
  for (const path of readOptions(args, "b i F P o").values("b")) run.read(path, state);
  run.noteNetwork();
  run.report("exfiltration", "remote-copy", `${name} moves files to and from another machine`);
  if (stdin === undefined) run.report("unknown", "interactive", `it is not known what ${name} moves`);
  return undefined;
};

const keygen: Program = ({ run, args, state, name }) => {
  const options = readOptions(args, "b C E e F f I i m N n O P R s t V w Y z D");
  if (options.has("l", "F", "y", "B")) {
    for (const path of options.values("f")) run.read(path, state);
    return undefined;
  }
  run.report("write", "changes-files", `${name} makes or changes keys`);
  for (const path of options.values("f")) run.write(path, state);
  return undefined;
};

/** Tools that hold keys and passwords. */
const keys: Program = ({ run, args, name }) => {
  run.noteSecret();
  const looks = args.some((arg) => /^(?:-l|-L|--list-.*|--fingerprint|--verify|list|ls|status)$/.test(arg));
  if (looks) return undefined;
  run.report("unknown", "uses-keys", `${name} uses or shows keys and passwords`);
  return "\uE002";
};

export const remotePrograms = [
  ...entries("ssh autossh mosh rsh slogin", ssh, { network: true }),
  ...entries("scp rsync rcp", copyRemote, { network: true }),
  ...entries("sftp ssh-copy-id", sftp, { network: true }),
  ...entries("ssh-keygen", keygen),
  ...entries("gpg gpg2 pass security secret-tool op bw vault keyctl ssh-add age sops keytool certtool", keys),
];
