import type { Program } from "../call.ts";
import { noteEnvironment } from "../environment.ts";
import { isUnknown, secretMark, unknownMark } from "../marks.ts";
import { readOptions } from "../options.ts";
import { joinPath } from "../resolve-path.ts";
import { splitWords } from "../split-words.ts";
import { entries } from "./program-entry.ts";

/**
 * A program that runs the rest of its arguments, after so many of its own. The values of `writes` are files that it
 * writes, or commands after a `|`; those of `loads` are code.
 */
const wrapper =
  (valued: string, skip = 0, { writes = "", loads = "" } = {}): Program =>
  ({ args, run, state, stdin, name }) => {
    const options = readOptions(args, valued, true);
    for (const path of options.values(...writes.split(" ")))
      if (/^[|!]/.test(path)) run.script(path.slice(1), state.clone(), undefined);
      else run.write(path, state);
    if (options.has(...loads.split(" ")))
      run.report("unknown", "loads-code", `${name} is told to load something else`);
    const words = options.operands.slice(skip);
    if (words.length > 0) return run.exec(words, state.clone(), stdin);
    if (options.uncertain) run.report("unknown", "unknown-arguments", `it is not known what ${name} runs`);
    return undefined;
  };

const env: Program = ({ args, run, state, stdin }) => {
  let rest = [...args];
  const inside = state.clone();
  for (let next = rest.shift(); next !== undefined; next = rest.shift()) {
    const split =
      /^(?:-[iv0]*S|--s(?:p(?:l(?:i(?:t(?:-(?:s(?:t(?:r(?:i(?:n(?:g)?)?)?)?)?)?)?)?)?)?)?(?==|$))(?:=?)([\s\S]*)$/.exec(
        next,
      );
    const folder = /^(?:-[iv0]*C|--c\w*(?==|$))=?(.*)$/s.exec(next);
    if (split !== null) {
      const text = split[1] === "" ? (rest.shift() ?? "") : (split[1] ?? "");
      const words = splitWords(text);
      if (words === undefined) run.report("unknown", "unknown-arguments", "it is not known what env runs");
      rest = [...(words ?? []), ...rest];
    } else if (folder !== null) {
      const path = folder[1] === "" ? (rest.shift() ?? "") : (folder[1] ?? "");
      run.read(path, inside);
      inside.directories = inside.directories?.map((directory) => joinPath(directory, path) ?? unknownMark);
    } else if (/^(?:-[iv0]*[ua]|--unset|--argv0)$/.test(next)) rest.shift();
    else if (/^-/.test(next) && next !== "-") continue;
    else if (next === "-") continue;
    else if (/^\w+=/.test(next)) {
      const at = next.indexOf("=");
      inside.variables.set(next.slice(0, at), [next.slice(at + 1)]);
      noteEnvironment(run, next.slice(0, at), next.slice(at + 1), inside);
    } else return run.exec([next, ...rest], inside, stdin);
  }
  run.noteSecret();
  run.report(
    "read",
    "reads-environment",
    "it prints the variables of the environment, which may hold secrets",
  );
  return secretMark;
};

/** Wrappers whose argument is the text of a shell. */
const texts =
  (valued: string, skip = 0): Program =>
  ({ args, run, state, stdin }) => {
    const words = readOptions(args, valued, true).operands.slice(skip);
    if (words.length > 0) run.script(words.join(" "), state.clone(), stdin);
    return undefined;
  };

/** `hyperfine` runs each of its operands, and the values of some options besides. */
const benchmark: Program = ({ args, run, state }) => {
  const options = readOptions(
    args,
    "w m M r s p C c S N L P D n i u warmup min-runs max-runs runs setup prepare conclude cleanup shell parameter-list parameter-scan export-json export-csv export-markdown export-asciidoc export-orgmode time-unit command-name output input style",
  );
  for (const text of [
    ...options.operands,
    ...options.values("s", "p", "C", "c", "S", "setup", "prepare", "conclude", "cleanup", "shell"),
  ])
    run.script(text, state.clone(), undefined);
  for (const name of options.names)
    if (/^(?:export-|output$)/.test(name)) for (const path of options.values(name)) run.write(path, state);
  return undefined;
};

const flock: Program = ({ args, run, state, stdin }) => {
  const options = readOptions(args, "w E timeout conflict-exit-code wait", true);
  const words = options.operands.slice(1);
  const at = words.findIndex((word) => word === "-c" || word === "--command");
  if (options.operands[0] !== undefined && !/^\d+$/.test(options.operands[0]))
    run.write(options.operands[0], state);
  if (at !== -1) return run.script(words[at + 1] ?? "", state.clone(), stdin);
  return words.length > 0 ? run.exec(words, state.clone(), stdin) : undefined;
};

/** `script -c TEXT FILE`. */
const script: Program = ({ args, run, state, stdin }) => {
  const options = readOptions(args, "c command E I O B T m o");
  const texts = options.values("c", "command");
  for (const text of texts) run.script(text, state.clone(), stdin);
  for (const path of options.operands.slice(0, 1)) run.write(path, state);
  if (texts.length === 0 && options.operands.length > 1)
    run.exec(options.operands.slice(1), state.clone(), stdin);
  else if (texts.length === 0) run.script(stdin ?? "\uE000", state.clone(), undefined);
  return undefined;
};

const builtin: Program = ({ args, run, state, stdin, name }) => {
  const options = readOptions(args, name === "exec" ? "a" : "", true);
  if (name === "command" && options.has("v", "V")) return undefined;
  if (options.operands.length === 0) return undefined;
  const [first = ""] = options.operands;
  // These look past functions and aliases of the same name.
  const inside = state.functions.has(first) || state.aliases.has(first) ? state.clone() : state;
  inside.functions.delete(first);
  inside.aliases.delete(first);
  return run.exec(options.operands, inside, stdin);
};

/** `busybox rm`: the name of the program is the first argument. */
const applets: Program = ({ args, run, state, stdin }) => {
  const words = args.filter((arg, index) => index > 0 || !/^--(?:list|help|install)/.test(arg));
  return words.length > 0 && !isUnknown(words[0] ?? "")
    ? run.exec(words, state, stdin)
    : run.exec(["\uE000"], state, stdin);
};

const terminal: Program = ({ args, run, state, name }) => {
  const [command = ""] = args.filter((arg) => !arg.startsWith("-"));
  if (/^(?:ls|list-.*|info|display.*|capture-pane|has-session)$/.test(command)) return undefined;
  const rest = args.slice(args.indexOf(command) + 1);
  const flags = readOptions(rest, "s t n c x y F e S p l");
  const text = name === "screen" ? readOptions(args, "S s t c h p e", true).operands : flags.operands;
  run.report("write", "starts-processes", `${name} starts or feeds other shells`);
  if (text.length > 0)
    run.script(text.filter((each) => !/^(?:Enter|C-\w)$/.test(each)).join(" "), state.clone(), undefined);
  return undefined;
};

export const wrapperPrograms = [
  ...entries(
    "nohup setsid unbuffer chronic fakeroot catchsegv dbus-run-session caffeinate torify torsocks proxychains proxychains4 rlwrap ssh-agent faketime firejail systemd-cat winpty",
    wrapper("o e i u s f z l lib", 0, { loads: "z filter lib l profile" }),
  ),
  ...entries("nice", wrapper("n adjustment")),
  ...entries("timeout gtimeout", wrapper("s k signal kill-after", 1)),
  ...entries("time", wrapper("f o format output", 0, { writes: "o output" })),
  ...entries("stdbuf gstdbuf", wrapper("i o e input output error")),
  ...entries("ionice", wrapper("c n p P u class classdata")),
  ...entries("chrt", wrapper("T P D", 1)),
  ...entries("taskset numactl cpulimit prlimit", wrapper("l p e c m N C", 1)),
  ...entries(
    "strace ltrace perf valgrind heaptrack",
    wrapper("o e p s u a P I S X log-file xml-file tool output", 0, {
      writes: "o output log-file xml-file",
      loads: "tool",
    }),
  ),
  ...entries("xvfb-run", wrapper("e f n p s w server-args server-num")),
  ...entries(
    "ld-linux ld-linux-x86-64.so.2 ld-linux-aarch64.so.1 ld-linux.so.2 ld-musl-x86_64.so.1",
    wrapper("library-path preload audit argv0", 0, { loads: "library-path preload audit" }),
  ),
  ...entries("env genv", env, { transparent: true }),
  ...entries("watch entr", texts("n q interval")),
  ...entries("hyperfine", benchmark),
  ...entries("flock", flock),
  ...entries("script", script),
  ...entries("command builtin exec noglob nocorrect", builtin, { transparent: true }),
  ...entries("busybox toybox coreutils", applets),
  ...entries("tmux screen", terminal),
];
