import { readAwkScript } from "../awk-script.ts";
import type { Call, Program } from "../call.ts";
import { isExact, isUnknown, shown, taintOf } from "../marks.ts";
import { readOptions } from "../options.ts";
import { readSedScript } from "../sed-script.ts";
import { entries } from "./program-entry.ts";
import { readOperands } from "./readers.ts";

/** The commands of a sed script that run programs or name files. */
const sedScript = (call: Call, script: string): void => {
  const { run, state, stdin } = call;
  if (!isExact(script)) run.report("unknown", "unknown-script", "the script of sed is not known in full");
  const { runs, reads, writes, isKnown } = readSedScript(script);
  if (!isKnown) run.report("unknown", "unknown-script", "the script of sed is not understood");
  for (const text of runs)
    if (text === "")
      run.report("unknown", "unknown-script", "sed runs its input, or what it has put together");
    else run.script(text, state.clone(), stdin);
  for (const path of writes) run.write(path, state);
  for (const path of reads) run.read(path, state);
};

const sed: Program = (call) => {
  const options = readOptions(call.args, "e f l expression file line-length");
  const scripts = options.values("e", "expression");
  for (const path of options.values("f", "file")) sedScript(call, call.run.read(path, call.state));
  const inline = scripts.length === 0 && !options.has("f", "file");
  if (inline) sedScript(call, options.operands[0] ?? "");
  // Several are the lines of one.
  else if (scripts.length > 0) sedScript(call, scripts.join("\n"));
  const files = inline ? options.operands.slice(1) : options.operands;
  const inPlace = options.has("i", "in-place") || call.args.some((arg) => /^-[nErsuz]*i/.test(arg));
  const mark = readOperands(call, files);
  if (!inPlace) return mark;
  call.run.report("write", "changes-files", "sed changes files in their place");
  for (const path of files) call.run.write(path, call.state);
  return "";
};

/** What an awk program runs and opens. */
const awkScript = (call: Call, script: string): void => {
  const { run, state, stdin } = call;
  if (!isExact(script)) run.report("unknown", "unknown-script", "the program of awk is not known in full");
  const { runs, reads, writes, unknown, environment } = readAwkScript(script);
  for (const text of runs) run.script(text, state.clone(), taintOf(stdin));
  for (const path of writes) run.write(path, state);
  for (const path of reads) run.read(path, state);
  for (const what of unknown) run.report("unknown", "unknown-script", `awk ${what}`);
  if (
    [...runs, ...reads, ...writes].some((each) => /^\/inet[46]?\//.test(each)) ||
    /\/inet[46]?\//.test(script)
  )
    run.report("exfiltration", "network-socket", "awk opens a connection");
  if (environment) run.noteSecret();
};

const awkOptions =
  /^(?:[FfveibcCghknNMOPrSstV]|field-separator|file|assign|source|include|characters-as-bytes|traditional|csv|posix|re-interval|sandbox|lint.*|version|help|bignum|use-lc-numeric|optimize|no-optimize|non-decimal-data)$/;

const awk: Program = (call) => {
  const { run, state } = call;
  const options = readOptions(
    call.args,
    "F f v e i l E W field-separator file assign source include load exec",
  );
  for (const name of options.names)
    if (!awkOptions.test(name)) run.report("unknown", "unknown-arguments", `awk is given -${shown(name)}`);
  for (const path of options.values("f", "file")) awkScript(call, run.read(path, state));
  for (const script of options.values("e", "source")) awkScript(call, script);
  const inline = !options.has("f", "file", "e", "source");
  if (inline) awkScript(call, options.operands[0] ?? "");
  const files = (inline ? options.operands.slice(1) : options.operands).filter((each) => !/^\w+=/.test(each));
  const mark = readOperands(call, files);
  for (const name of options.values("i", "include"))
    if (/^inplace(?:\.awk)?$/.test(name)) for (const path of files) run.write(path, state);
    else run.report("unknown", "loads-code", "awk loads something else");
  return mark;
};

const sort: Program = (call) => {
  const options = readOptions(
    call.args,
    "k t o S T output key field-separator buffer-size compress-program temporary-directory parallel files0-from",
  );
  for (const path of options.values("o", "output")) call.run.write(path, call.state);
  for (const program of options.values("compress-program"))
    call.run.exec([program], call.state.clone(), undefined);
  return readOperands(call, options.operands);
};

const shuf: Program = (call) => {
  const options = readOptions(call.args, "i n o input-range head-count output random-source");
  for (const path of options.values("o", "output")) call.run.write(path, call.state);
  return options.has("e", "echo") ? undefined : readOperands(call, options.operands);
};

/** Tools that change their files only with -i. */
const inPlace: Program = (call) => {
  const options = readOptions(call.args, "arg argjson o output indent");
  const files = options.operands.slice(1);
  const mark = readOperands(call, files);
  if (options.has("i", "inplace", "in-place")) for (const path of files) call.run.write(path, call.state);
  return mark;
};

const tar: Program = (call) => {
  const { run, state, stdin } = call;
  // The first word may be a bundle of letters without a dash.
  const [first = "", ...later] = call.args;
  const args = /^[a-zA-Z]+$/.test(first) ? [`-${first}`, ...later] : call.args;
  const options = readOptions(
    args,
    "f C T X b H I F file directory files-from exclude exclude-from use-compress-program to-command checkpoint-action index-file info-script new-volume-script rmt-command rsh-command transform strip-components owner group mode newer",
  );
  const run1 = (text: string): void => {
    run.script(text, state.clone(), stdin);
  };
  for (const text of options.values(
    "to-command",
    "I",
    "use-compress-program",
    "F",
    "info-script",
    "new-volume-script",
    "rmt-command",
    "rsh-command",
  ))
    run1(text);
  for (const action of options.values("checkpoint-action")) {
    if (action.startsWith("exec=")) run1(action.slice(5));
    else if (isUnknown(action)) run.report("unknown", "unknown-arguments", "an action of tar is not known");
  }
  for (const path of options.values("index-file")) run.write(path, state);
  // The values of a bundle without a dash stand after it, in the order of its letters.
  if (/^[a-zA-Z]{2,}$/.test(first) && /[fCTXbHIFgKLNVg].*[fCTXbHIFgKLNVg]/.test(first))
    run.report("unknown", "unknown-arguments", "several letters of tar take a value each");
  const archives = options.values("f", "file");
  if (archives.some((path) => /^[^/]+:/.test(path)) && !options.has("force-local"))
    run.report("exfiltration", "remote-copy", "tar speaks to another machine");
  if (options.uncertain) run.report("unknown", "unknown-arguments", "some arguments of tar are not known");
  if (options.has("t", "list")) return readOperands(call, archives);
  if (options.has("x", "extract", "get")) {
    readOperands(call, archives);
    if (options.has("O", "to-stdout")) return taintOf(stdin);
    run.report("write", "changes-files", "tar unpacks files");
    const places = options.values("C", "directory");
    for (const path of places.length === 0 ? ["."] : places) run.write(path, state);
    if (options.has("P", "absolute-names")) run.report("unknown", "unknown-path", "tar may write anywhere");
    return "";
  }
  const mark = readOperands(call, [
    ...options.values("C", "directory"),
    ...options.operands,
    ...options.values("T", "files-from"),
  ]);
  if (options.has("remove-files"))
    run.report("destructive", "recursive-delete", "tar deletes the files that it packs");
  const named = archives.filter((path) => path !== "-");
  for (const path of named) run.write(path, state, mark);
  return named.length > 0 ? "" : mark;
};

const archive: Program = (call) => {
  const { run, state, args, name } = call;
  const options = readOptions(args, "d x P i o unzip-command");
  const index = args.findIndex((arg) => /^(?:-T+|--test|-TT|--unzip-command)$/.test(arg));
  if (args.some((arg) => /^(?:-TT|--unzip-command)/.test(arg)))
    run.script(args[index + 1] ?? "", state.clone(), undefined);
  if (options.has("m", "move") && name === "zip")
    run.report("destructive", "recursive-delete", "zip deletes what it packs");
  const [first, ...rest] = options.operands;
  if (/^un/.test(name)) {
    readOperands(call, options.operands.slice(0, 1));
    if (options.has("l", "p", "Z", "t", "v")) return undefined;
    for (const path of options.values("d")) run.write(path, state);
    run.report("write", "changes-files", `${name} unpacks files`);
    return undefined;
  }
  readOperands(call, rest);
  if (first !== undefined) run.write(first, state);
  run.report("write", "changes-files", `${name} makes or unpacks an archive`);
  return undefined;
};

/** Editors: what they are told to run counts, and what they are fed. */
const editor: Program = (call) => {
  const { run, args, state, name, stdin } = call;
  args.forEach((arg, index) => {
    const told = arg.startsWith("+")
      ? arg.slice(1)
      : /^(?:-c|--cmd|-S)$/.test(args[index - 1] ?? "")
        ? arg
        : undefined;
    const shell = /^:?!(.*)$/.exec(told ?? "")?.[1] ?? /system\(['"](.*)['"]\)/.exec(told ?? "")?.[1];
    if (shell !== undefined) run.script(shell, state.clone(), undefined);
    else if (told !== undefined && !/^\d*$/.test(told))
      run.report("unknown", "unknown-script", `${name} is told to run something`);
  });
  for (const [, text = ""] of (stdin ?? "").matchAll(/^!(.*)$/gm)) run.script(text, state.clone(), undefined);
  for (const path of readOptions(args, "c S cmd u i").operands.filter((each) => !each.startsWith("+")))
    run.write(path, state);
  if (stdin !== undefined) run.report("unknown", "unknown-script", `${name} is fed with commands`);
  run.report("write", "changes-files", `${name} changes files`);
  return undefined;
};

const patch: Program = (call) => {
  const options = readOptions(call.args, "p i o d input output directory strip");
  for (const path of options.values("i", "input")) call.run.read(path, call.state);
  for (const path of [...options.operands, ...options.values("o", "output", "d", "directory")])
    call.run.write(path, call.state);
  call.run.report("write", "changes-files", "patch changes files");
  return undefined;
};

export const textPrograms = [
  ...entries("sed gsed", sed),
  ...entries("awk gawk mawk nawk", awk),
  ...entries("sort gsort", sort),
  ...entries("shuf", shuf),
  ...entries("yq dasel", inPlace),
  ...entries("tar gtar bsdtar", tar),
  ...entries("zip unzip 7z 7za rar unrar cpio ar pax", archive),
  ...entries("vi vim nvim ex view ed emacs nano pico micro red", editor),
  ...entries("patch", patch),
];
