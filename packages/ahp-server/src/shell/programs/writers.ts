import type { Call, Program } from "../call.ts";
import { isPattern } from "../glob.ts";
import { isUnknown, namesMark, shown } from "../marks.ts";
import { readOptions } from "../options.ts";
import { entries } from "./program-entry.ts";

const uncertain = ({ run, name }: Call): void => {
  run.report("unknown", "unknown-arguments", `some arguments of ${name} are not known`);
};

const writeAll = ({ run, state }: Call, paths: readonly string[]): void => {
  for (const path of paths) run.write(path, state);
};

/** A pattern that takes everything in a folder, or files whose names come from elsewhere. */
const isSweeping = (path: string): boolean =>
  path.includes(namesMark) ||
  /(?:^|\/)(?:\*+|\.\*|\.\[\^?.*\]\*|\{.*\})$/.test(path) ||
  /^(?:\/|~\/?|\.|\.\.|\.\/|\/\*)$/.test(path);

const remove: Program = (call) => {
  const options = readOptions(call.args);
  const { run } = call;
  writeAll(call, options.operands);
  run.report("write", "deletes", `${call.name} deletes ${shown(options.operands.join(" "))}`);
  if (options.has("r", "R", "recursive", "no-preserve-root") && call.name === "rm")
    run.report(
      "destructive",
      "recursive-delete",
      `rm deletes folders with all that they hold: ${shown(options.operands.join(" "))}`,
    );
  for (const path of options.operands) {
    if (isSweeping(path))
      run.report("destructive", "sweeping-delete", `it deletes whatever is in ${shown(path)}`);
    if (
      /^\/(?:etc|usr|bin|sbin|lib\w*|boot|var|dev|opt|sys|proc)(?:\/|$)/.test(path) &&
      !/^\/var\/tmp\//.test(path)
    )
      run.report("destructive", "deletes-system", `it deletes ${shown(path)}, a part of the system`);
    if (/(?:^|\/)\.git(?:\/|$)/.test(path) && !path.endsWith(".lock"))
      run.report("destructive", "deletes-history", "it deletes what git keeps");
  }
  if (options.uncertain) uncertain(call);
  return "";
};

/** Everything is written. */
const write: Program = (call) => {
  const options = readOptions(call.args, "m mode r d t date reference Z context");
  for (const path of options.values("r", "reference"))
    if (call.name === "touch") call.run.read(path, call.state);
  call.run.report("write", "changes-files", `${call.name} changes files`);
  writeAll(call, options.operands);
  if (options.uncertain) uncertain(call);
  return "";
};

/** The last operand, or the value of -t, is written; the others are read, and by `mv` taken away. */
const copy: Program = (call) => {
  const options = readOptions(
    call.args,
    "t S m o g target-directory suffix mode owner group strip-program backup-suffix",
  );
  const { run, state, name } = call;
  const targets = options.values("t", "target-directory");
  const sources = targets.length > 0 ? options.operands : options.operands.slice(0, -1);
  const target = targets[0] ?? options.operands.at(-1);
  run.report("write", "changes-files", `${name} changes files`);
  if (name === "install" && options.has("d", "directory")) {
    writeAll(call, options.operands);
    return "";
  }
  const held = sources.map((path) => (name === "mv" ? moved(call, path) : run.read(path, state)));
  if (name === "ln" && sources.length === 0 && target !== undefined) run.read(target, state);
  if (target !== undefined) {
    run.write(target, state, held.length === 1 ? held[0] : undefined);
    for (const path of sources) {
      const base = path.slice(path.lastIndexOf("/") + 1);
      if (base !== "" && !isPattern(base) && !isUnknown(path))
        run.write(`${target}/${base}`, state, held[sources.indexOf(path)]);
    }
    if (name === "mv" && /^\/dev\/null$/.test(target))
      run.report("destructive", "deletes", "it moves files into nothing");
  }
  if (name === "install") modeIsPrivileged(call, options.values("m", "mode")[0] ?? "");
  for (const program of options.values("strip-program")) run.exec([program], state.clone(), undefined);
  if (options.uncertain) uncertain(call);
  return "";
};

const moved = (call: Call, path: string): string => {
  const content = call.run.read(path, call.state);
  call.run.write(path, call.state);
  if (isSweeping(path)) call.run.report("write", "moves-all", `it moves whatever is in ${shown(path)}`);
  return content;
};

const modeIsPrivileged = ({ run, name }: Call, mode: string): void => {
  if (/^[0-7]?[2467][0-7]{3}$/.test(mode) || /(?:^|,)[ugoa]*[+=][rwxXt]*s/.test(mode))
    run.report("privilege", "setuid", `${name} gives a program the rights of its owner`);
};

const change: Program = (call) => {
  const options = readOptions(
    call.args.map((arg) =>
      /^-[rwxXst]+$/.test(arg) && call.name === "chmod" && !/^-R$/.test(arg) ? `=${arg}` : arg,
    ),
    "reference from",
  );
  const { run, name } = call;
  const [mode = "", ...rest] = options.operands;
  const files = options.has("reference") ? options.operands : rest;
  run.report("write", "changes-rights", `${name} changes who may use files`);
  for (const path of files) run.touch(path, call.state);
  if (options.has("R", "recursive"))
    run.report(
      "destructive",
      "recursive-rights",
      `${name} changes who may use folders and all that they hold`,
    );
  if (name === "chmod") modeIsPrivileged(call, mode);
  if (name === "setfacl" && options.has("b", "remove-all"))
    run.report("destructive", "recursive-rights", "it drops rights");
  if (name === "chown" && /^(?:root|0)(?::|$)/.test(mode))
    run.report("privilege", "root-owner", "it gives files to root");
  if (options.uncertain || isUnknown(mode)) uncertain(call);
  return "";
};

const setcap: Program = ({ run }) => {
  run.report("privilege", "setuid", "setcap gives a program rights that its user does not have");
  return "";
};

const tee: Program = (call) => {
  const options = readOptions(call.args);
  for (const path of options.operands)
    call.run.write(path, call.state, options.has("a", "append") ? undefined : (call.stdin ?? ""));
  if (options.uncertain) uncertain(call);
  return call.stdin ?? "";
};

const truncate: Program = (call) => {
  writeAll(call, readOptions(call.args, "s r o size reference").operands);
  call.run.report("destructive", "truncates", "truncate throws away what files hold");
  return "";
};

const shred: Program = (call) => {
  writeAll(call, readOptions(call.args, "n s iterations size random-source").operands);
  call.run.report("destructive", "shreds", `${call.name} makes files unreadable for good`);
  return "";
};

const dd: Program = ({ args, run, state, stdin }) => {
  const value = (name: string): string | undefined =>
    args.find((arg) => arg.startsWith(`${name}=`))?.slice(name.length + 1);
  const input = value("if");
  const output = value("of");
  const held = input === undefined ? (stdin ?? "") : run.read(input, state);
  if (args.some((arg) => isUnknown(arg.split("=")[0] ?? "")))
    run.report("unknown", "unknown-arguments", "some arguments of dd are not known");
  if (output === undefined) return held;
  run.write(output, state, held);
  if (/^\/dev\/(?!null|stdout|stderr|tty|fd)/.test(output))
    run.report("destructive", "writes-device", `dd writes to ${shown(output)}`);
  return "";
};

/** One or more files, of which the last is written where there are two: `split`, `uniq`. */
const second: Program = (call) => {
  const options = readOptions(
    call.args,
    "f s w o n b l a C d e check-chars skip-fields skip-chars prefix output",
  );
  const [source, target] = options.operands;
  if (source !== undefined) call.run.read(source, call.state);
  if (target !== undefined) call.run.write(target, call.state);
  if (call.name !== "uniq") call.run.report("write", "changes-files", `${call.name} makes files`);
  return undefined;
};

/** Compression replaces its operands. */
const compress: Program = (call) => {
  const options = readOptions(call.args, "S T M suffix threads o");
  const prints = options.has("c", "stdout", "to-stdout", "t", "test", "l", "list");
  for (const path of options.operands) {
    call.run.read(path, call.state);
    if (!prints) call.run.write(path, call.state);
  }
  if (!prints && options.operands.length > 0)
    call.run.report("write", "changes-files", `${call.name} replaces files`);
  return undefined;
};

export const writerPrograms = [
  ...entries("rm unlink rmdir", remove),
  ...entries("mkdir touch mkfifo mktemp chattr fallocate dos2unix unix2dos sponge", write),
  ...entries("cp mv ln link install ditto gcp gmv", copy),
  ...entries("chmod chown chgrp setfacl", change),
  ...entries("setcap", setcap),
  ...entries("tee", tee),
  ...entries("truncate", truncate),
  ...entries("shred wipe srm scrub", shred),
  ...entries("dd dcfldd", dd),
  ...entries("uniq split csplit", second),
  ...entries("gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd lz4 compress uncompress", compress),
];
