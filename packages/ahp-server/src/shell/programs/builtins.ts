import type { Call, Program } from "../call.ts";
import { noteEnvironment } from "../environment.ts";
import { isExact, isUnknown, secretMark, shown, taintOf, unknownMark } from "../marks.ts";
import { readOptions } from "../options.ts";
import { joinPath } from "../resolve-path.ts";
import { entries } from "./program-entry.ts";

const nothing: Program = () => "";

/** Where the shell is afterwards; where it was stays possible, since the folder may be missing. */
const cd: Program = ({ args, run, state, name }) => {
  const [target] = readOptions(args).operands;
  const home = (): string => "~";
  const path = target ?? (name === "popd" ? unknownMark : home());
  if (name === "popd" || path === "-" || isUnknown(path) || /^\+\d/.test(path) || /[*?[]/.test(path)) {
    state.directories = undefined;
    state.arrived = undefined;
    return "";
  }
  if (state.variables.has("CDPATH")) state.directories = undefined;
  run.read(target ?? "~", state);
  const arrived = state.directories?.map((directory) => joinPath(directory, path) ?? unknownMark);
  state.joinDirectories(arrived);
  state.arrived = arrived;
  return "";
};

/** `export A=b`: sets what it names. */
const declare: Program = ({ args, run, state, name }) => {
  if (args.length === 0 || args[0] === "-p") {
    run.noteSecret();
    run.report("read", "reads-environment", `${name} prints variables, which may hold secrets`);
    return secretMark;
  }
  if (args.some((arg) => /^-\w*f/.test(arg)))
    run.report("unknown", "unknown-script", `${name} gives functions to other shells`);
  if (args.some((arg) => /^-\w*i/.test(arg)))
    run.report("unknown", "hidden-expression", `${name} makes a variable calculate whatever it is given`);
  for (const arg of args) {
    const [, variable, append, value] = /^(\w+)(?:\[[^\]]*\])?(\+?)=([\s\S]*)$/.exec(arg) ?? [];
    if (variable === undefined) {
      if (/^-\w*n/.test(arg))
        run.report("unknown", "name-reference", "a variable is made to stand for another one");
      continue;
    }
    const before = append === "+" ? (state.variables.get(variable)?.[0] ?? unknownMark) : "";
    state.variables.set(variable, [before + (value ?? "")]);
    noteEnvironment(run, variable, before + (value ?? ""), state);
  }
  if (args.some((arg) => isUnknown(arg.split("=")[0] ?? ""))) forgetAll({ state });
  return "";
};

const forgetAll = ({ state }: Pick<Call, "state">): void => {
  for (const variable of state.variables.keys()) state.variables.set(variable, [unknownMark]);
};

const unset: Program = ({ args, state }) => {
  for (const name of args) {
    state.variables.delete(name);
    // Where it is left before this is reached, the function stays.
    state.doubtful.add(name);
  }
  return "";
};

/** `read a b`: what is read is known only where one name takes one known line. */
const read: Program = ({ args, state, stdin }) => {
  const names = readOptions(args, "a d i n N p t u").operands;
  const line = stdin?.split("\n")[0];
  const array = args.some((arg) => /^-\w*a/.test(arg));
  const lines = stdin?.trim().split("\n") ?? [];
  const known =
    line !== undefined &&
    names.length === 1 &&
    !array &&
    lines.length === 1 &&
    !args.some((arg) => /^-\w*[duN]/.test(arg));
  for (const name of names.length === 0 ? ["REPLY"] : names)
    state.variables.set(name, [
      known && isExactOrNames(line) ? line : stdin?.includes(secretMark) === true ? secretMark : unknownMark,
    ]);
  for (const name of readOptions(args, "a d i n N p t u").values("a"))
    state.variables.set(name, [taintOf(stdin)]);
  return "";
};

const isExactOrNames = (text: string): boolean => !isUnknown(text);

/** `getopts OPTIONS NAME`: the letter that was found. */
const getopts: Program = ({ args, state }) => {
  for (const name of [args[1], "OPTARG"]) if (name !== undefined) state.variables.set(name, [unknownMark]);
  return "";
};

const mapfile: Program = ({ args, run, state, stdin }) => {
  const options = readOptions(args, "d n O s u C c");
  for (const text of options.values("C")) run.script(text, state.clone(), undefined);
  const known = stdin !== undefined && isExact(stdin);
  const lines = known ? stdin.replace(/\n$/, "").split("\n") : [taintOf(stdin)];
  state.variables.set(options.operands[0] ?? "MAPFILE", lines.slice(0, 256));
  return "";
};

const set: Program = ({ args, run, state }) => {
  if (args.length === 0) {
    run.noteSecret();
    run.report("read", "reads-environment", "set prints variables, which may hold secrets");
    return secretMark;
  }
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? "";
    const ends = arg === "--" || arg === "-";
    if (ends || !/^[-+]/.test(arg)) {
      if (arg !== "-" || at + 1 < args.length) state.positional = args.slice(ends ? at + 1 : at);
      break;
    }
    // The name of an option stands after it.
    if (/^[-+]\w*o/.test(arg)) at++;
  }
  return "";
};

const shift: Program = ({ args, state }) => {
  const count = Number(args[0] ?? "1");
  state.positional =
    Number.isInteger(count) && !state.positional.some(isUnknown)
      ? state.positional.slice(count)
      : [unknownMark];
  return "";
};

const alias: Program = ({ args, state }) => {
  for (const arg of args) {
    const at = arg.indexOf("=");
    if (at > 0) state.aliases.set(arg.slice(0, at), arg.slice(at + 1));
  }
  return "";
};

/** What a trap runs is judged at once, as if its signal had come. */
const trap: Program = ({ args, run, state }) => {
  const words = args[0] === "--" ? args.slice(1) : args;
  const [text = "", ...signals] = words;
  if (/^-[lp]$/.test(text) || signals.length === 0 || text === "-" || text === "") return "";
  run.script(text, state.clone(), undefined, true);
  if (signals.every((signal) => /^(?:EXIT|0)$/i.test(signal))) run.later(text, state);
  else if (!/^[\w\s./-]*$/.test(text))
    run.report("unknown", "unknown-script", "a trap runs a text whose values may change until then");
  else run.later(text, state);
  return "";
};

const hash: Program = ({ args, run }) => {
  if (args.includes("-p"))
    run.report("unknown", "search-path", "hash makes a name stand for another program");
  return "";
};

const enable: Program = ({ args, run }) => {
  if (args.some((arg) => /^-\w*f/.test(arg)))
    run.report("unknown", "loads-code", "enable loads a program into the shell");
  return "";
};

/** `history -w FILE` writes what `history -s` has put into it; `fc -s` runs it. */
const history: Program = ({ args, run, state, name }) => {
  if (name === "fc" && !args.some((arg) => /^-\w*l/.test(arg)))
    run.report("unknown", "unknown-script", "fc runs what stands in the history");
  const options = readOptions(args, "a n r w s p d");
  for (const option of ["a", "w"])
    if (options.has(option)) run.write(options.values(option)[0] ?? "~/.bash_history", state);
  return "";
};

/** `jobs -x PROGRAM` runs it. */
const jobs: Program = ({ args, run, state, stdin }) => {
  const at = args.findIndex((arg) => /^-\w*x/.test(arg));
  return at === -1 ? "" : run.exec(args.slice(at + 1), state.clone(), stdin);
};

/** With `lastpipe` the last program of a pipeline runs in this shell, and changes its variables. */
const shopt: Program = ({ args, run }) => {
  if (args.some((arg) => arg === "lastpipe" || isUnknown(arg)) && !args.includes("-u"))
    run.report("unknown", "changes-shell", "shopt changes how what follows is run");
  return "";
};

/** `complete -C`, `bind -x`: texts that the shell runs later. */
const hooks: Program = ({ args, run, state }) => {
  args.forEach((arg, index) => {
    if (/^-[CFxe]$/.test(args[index - 1] ?? ""))
      run.script(arg.replace(/^[^:]*:/, ""), state.clone(), undefined);
  });
  return "";
};

/** `let x=1`: an expression; what an index holds in it is run. */
const compute: Program = ({ args, run, state }) => {
  for (const arg of args) {
    if (isUnknown(arg)) run.report("unknown", "hidden-expression", `${shown(arg)} is run as an expression`);
    else run.expression(arg, state);
    const name = /^(\w+)\s*(?:[-+*/%&|^]|<<|>>)?=/.exec(arg)?.[1];
    if (name !== undefined) state.variables.set(name, [unknownMark]);
  }
  return "";
};

const test: Program = ({ args, run, state }) => {
  args.forEach((arg, index) => {
    if (args[index - 1] === "-v" && arg.includes("[")) run.expression(arg, state);
  });
  return "";
};

const umask: Program = ({ args, run }) => {
  if (/^0*0?0$/.test(args[0] ?? "x"))
    run.report("write", "changes-rights", "new files will be open to everybody");
  return undefined;
};

const compgen: Program = ({ args, run }) => {
  if (args.some((arg) => /^-\w*[CF]/.test(arg)))
    run.report("unknown", "unknown-script", "compgen runs a command");
  return undefined;
};

export const builtinPrograms = [
  ...entries(": exit return break continue wait fg bg disown suspend logout times dirs ulimit", nothing),
  ...entries("cd pushd popd chdir", cd),
  ...entries("export declare typeset local readonly integer", declare),
  ...entries("getopts", getopts),
  ...entries("unset", unset),
  ...entries("read", read),
  ...entries("mapfile readarray", mapfile),
  ...entries("set", set),
  ...entries("shift", shift),
  ...entries("alias", alias),
  ...entries("unalias", nothing),
  ...entries("trap", trap),
  ...entries("hash", hash),
  ...entries("enable", enable),
  ...entries("complete bind", hooks),
  ...entries("let", compute),
  ...entries("test [", test),
  ...entries("umask", umask),
  ...entries("compgen", compgen),
  ...entries("shopt", shopt),
  ...entries("history fc", history),
  ...entries("jobs", jobs),
];
