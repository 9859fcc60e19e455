import type { Call, Program } from "../call.ts";
import { isUnknown, namesMark } from "../marks.ts";
import { readOptions } from "../options.ts";
import { entries } from "./program-entry.ts";
import { namesBelow } from "./readers.ts";

/** The command after `-exec`, up to `;` or `+`, with names of files in the place of `{}`. */
const commandAfter = (args: readonly string[], at: number, names: readonly string[]): readonly string[] => {
  const rest = args.slice(at + 1);
  const end = rest.findIndex((arg, index) => arg === ";" || (arg === "+" && rest[index - 1] === "{}"));
  const words = end === -1 ? rest : rest.slice(0, end);
  return words.flatMap((word) => {
    if (word === "{}") return names;
    return [word.includes("{}") ? word.replaceAll("{}", names[0] ?? namesMark) : word];
  });
};

/** What find prints: names below its folders, of the patterns that it is given. */
const namedBelow = (roots: readonly string[], args: readonly string[]): string => {
  const patterns = args.filter(
    (arg, index) =>
      /^-(?:i?name)$/.test(args[index - 1] ?? "") &&
      arg !== "*" &&
      args[index - 2] !== "!" &&
      args[index - 2] !== "-not",
  );
  if (patterns.length === 0 || patterns.some(isUnknown)) return namesBelow(roots);
  const folders = roots.length === 0 ? ["."] : roots;
  return folders.flatMap((root) => patterns.map((pattern) => `${root}/${namesMark}/${pattern}\n`)).join("");
};

const find: Program = (call) => {
  const { args, run, state, stdin } = call;
  const start = args.findIndex(
    (arg, index) => /^[-(!]/.test(arg) && !/^-(?:[HLPEXdsx]|O\d|D)$/.test(arg) && args[index - 1] !== "-D",
  );
  const roots = (start === -1 ? args : args.slice(0, start)).filter((arg) => !/^-[HLPEXdsx]$/.test(arg));
  for (const root of roots) run.read(root, state);
  const found = namedBelow(roots, args);
  const names = found.trim().split("\n");
  args.forEach((arg, index) => {
    if (index < start || start === -1) return;
    const value = args[index + 1] ?? "";
    if (arg === "-delete") run.report("destructive", "sweeping-delete", "find deletes whatever it finds");
    else if (/^-(?:exec|execdir|ok|okdir)$/.test(arg)) {
      const words = commandAfter(args, index, names);
      run.exec(words, state.clone(), stdin);
      if (/^(?:.*\/)?(?:rm|unlink|shred|rmdir)$/.test(words[0] ?? ""))
        run.report("destructive", "sweeping-delete", "find deletes whatever it finds");
    } else if (/^-(?:fprint0?|fprintf|fls)$/.test(arg)) run.write(value, state);
    else if (/^-(?:newer|samefile|files0-from)/.test(arg)) run.read(value, state);
    else if (
      isUnknown(arg) &&
      !/^-(?:i?name|i?path|i?regex|i?wholename|m?time|mmin|size|user|group|type|perm|maxdepth|mindepth|newer\w*)$/.test(
        args[index - 1] ?? "",
      )
    )
      run.report("unknown", "unknown-arguments", "some arguments of find are not known");
  });
  return args.some((arg) => /^-(?:printf|exec|ls)/.test(arg)) ? undefined : found;
};

const fd: Program = (call) => {
  const { args, run, state } = call;
  if (args.some((arg) => /^--exec(?:-batch)?=|^-[a-zA-Z]+[xX]|^-[xX]./.test(arg)))
    run.report("unknown", "unknown-script", "fd runs a program for what it finds");
  const at = args.findIndex((arg) => /^(?:-[xX]|--exec|--exec-batch)$/.test(arg));
  const options = readOptions(
    at === -1 ? args : args.slice(0, at),
    "e E t d S o c j base-directory extension exclude type max-depth",
  );
  const roots = options.operands.slice(1);
  for (const root of [...roots, ...options.values("base-directory")]) run.read(root, state);
  if (at !== -1) {
    const words = commandAfter(args, at, namesBelow(roots).trim().split("\n"));
    run.exec([...words, ...(args.includes("{}") ? [] : [`./${namesMark}`])], state.clone(), undefined);
  }
  return namesBelow(roots);
};

/** The fields that xargs makes of its input. */
const fieldsOf = (call: Call, files: readonly string[], delimiter: string | undefined): readonly string[] => {
  const text =
    files.length > 0
      ? files.map((path) => call.run.read(path, call.state)).join("")
      : (call.stdin ?? namesMark);
  const fields =
    delimiter === undefined
      ? text.split(/[\s\0]+/)
      : text.split(delimiter).flatMap((each) => each.split("\0"));
  return fields.map((field) => field.trim().replace(/^(['"])(.*)\1$/, "$2")).filter((field) => field !== "");
};

const xargs: Program = (call) => {
  const { run, state } = call;
  const options = readOptions(
    call.args,
    "I n L P d E s a i max-args max-lines max-procs delimiter max-chars arg-file replace",
    true,
  );
  const lines = options.has("I", "i", "replace");
  const delimiter =
    options.values("d", "delimiter")[0] ?? (options.has("0", "null") ? "\0" : lines ? "\n" : undefined);
  const fields = fieldsOf(call, options.values("a", "arg-file"), delimiter);
  const replace = options.values("I", "i", "replace")[0] ?? (lines ? "{}" : undefined);
  const words = options.operands.length === 0 ? ["echo"] : [...options.operands];
  if (replace === undefined) return run.exec([...words, ...fields], state.clone(), undefined);
  let printed = "";
  for (const field of fields.slice(0, 32))
    printed += run.exec(
      words.map((word) => word.replaceAll(replace, field)),
      state.clone(),
      undefined,
    );
  if (fields.length > 32)
    run.exec(
      words.map((word) => word.replaceAll(replace, namesMark)),
      state.clone(),
      undefined,
    );
  return printed;
};

/** GNU parallel takes a shell text; `:::` separates it from what is put into it. */
const parallel: Program = (call) => {
  const options = readOptions(
    call.args,
    "j n N I S a delay timeout retries joblog results jobs sshlogin",
    true,
  );
  const at = options.operands.findIndex((word) => /^:::\+?$|^::::$/.test(word));
  const words = at === -1 ? options.operands : options.operands.slice(0, at);
  const fields = at === -1 ? fieldsOf(call, [], "\n") : options.operands.slice(at + 1);
  if (options.has("S", "sshlogin"))
    call.run.report("exfiltration", "remote-shell", "parallel runs commands on other machines");
  for (const field of fields.slice(0, 32)) {
    const text = words.length === 0 ? field : words.join(" ");
    const filled = text.includes("{}")
      ? text.replaceAll("{}", field)
      : words.length === 0
        ? text
        : `${text} ${field}`;
    call.run.script(filled, call.state.clone(), undefined);
  }
  return undefined;
};

export const findPrograms = [
  ...entries("find gfind", find),
  ...entries("fd fdfind", fd),
  ...entries("xargs gxargs", xargs, { transparent: true }),
  ...entries("parallel", parallel),
];
