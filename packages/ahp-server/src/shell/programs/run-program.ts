import { noteVariables } from "../environment.ts";
import { isPattern, mayMatch } from "../glob.ts";
import type { Interpreter } from "../interpreter.ts";
import { dataMark, isUnknown, shown, taintOf, withoutMarks } from "../marks.ts";
import type { ShellState } from "../shell-state.ts";
import { noteSecretArguments } from "./secret-arguments.ts";
import { findProgram, programNames } from "./table.ts";
import { writtenContents } from "./written-contents.ts";

const systemFolder = /^\/(?:usr\/(?:local\/)?|opt\/homebrew\/)?s?bin\/[^/]+$/;

/** The name under which a program is known: without its folder, its version and the ending of Windows. */
const bareName = (path: string): string => {
  const name = path.slice(path.lastIndexOf("/") + 1).replace(/\.exe$/i, "");
  if (findProgram(name) !== undefined) return name;
  const plain = name.replace(/-?\d+(?:\.\d+)*$/, "");
  return findProgram(plain) === undefined ? name : plain;
};

/** Builtins that take names of variables, whose indices are expressions. */
const takesNames =
  /^(?:printf|unset|read|declare|typeset|local|export|readonly|let|test|\[|mapfile|readarray|wait)$/;

const onlyAsks = (args: readonly string[]): boolean =>
  args.length === 1 && /^(?:--help|--version|-version)$/.test(args[0] ?? "");

/** Runs a file of the workspace: followed only where the command itself has written it. */
const runFile = (
  run: Interpreter,
  path: string,
  args: readonly string[],
  state: ShellState,
  stdin: string | undefined,
): string => {
  const held = run.read(path, state);
  const contents = writtenContents(path, state);
  if (contents.length === 0)
    run.report("unknown", "runs-file", `it runs the file ${shown(path)}, whose content is not known`);
  for (const content of contents) runContent(run, content, path, args, state, stdin);
  return taintOf(stdin, held);
};

const runContent = (
  run: Interpreter,
  content: string,
  path: string,
  args: readonly string[],
  state: ShellState,
  stdin: string | undefined,
): string => {
  const shebang = /^#!\s*(\S+)(?:[ \t]+(\S+))?/.exec(content);
  const program = shebang?.[1]?.endsWith("/env") === true ? shebang[2] : shebang?.[1];
  if (program !== undefined && !/sh$/.test(program)) return run.exec([program, path, ...args], state, stdin);
  const inside = state.clone();
  inside.positional = args;
  return run.script(content, inside, stdin);
};

const runKnown = (
  run: Interpreter,
  name: string,
  args: readonly string[],
  state: ShellState,
  stdin: string | undefined,
): string => {
  run.program(name);
  const program = findProgram(name);
  noteSecretArguments(run, name, args, program?.network === true);
  if (takesNames.test(name)) for (const arg of args) if (/^\w+\[/.test(arg)) run.expression(arg, state);
  if (onlyAsks(args) && program?.transparent !== true) return dataMark;
  const printed = program?.judge({ name, args, stdin, state, run });
  return printed ?? taintOf(stdin, ...args);
};

const runUnlisted = (
  run: Interpreter,
  name: string,
  args: readonly string[],
  stdin: string | undefined,
): string => {
  run.program(shown(name));
  noteSecretArguments(run, name, args, false);
  if (run.lists.read?.includes(name) === true) return taintOf(stdin, ...args);
  if (run.lists.write?.includes(name) === true)
    run.report("write", "changes-things", `${name} changes things`);
  else run.report("unknown", "unknown-program", `it is not known what ${shown(name)} does`);
  return taintOf(stdin, ...args);
};

/** Programs that a pattern in the place of a name may stand for. */
const candidates = (pattern: string): readonly string[] => {
  const last = pattern.slice(pattern.lastIndexOf("/") + 1);
  return isPattern(last) && /[^*?]/.test(last) ? programNames().filter((name) => mayMatch(last, name)) : [];
};

/** Runs what an alias stands for. Shells that run a text mostly do not know aliases, so that this is one of two ways. */
const runAlias = (
  run: Interpreter,
  [name = "", ...args]: readonly string[],
  state: ShellState,
  stdin: string | undefined,
): void => {
  const alias = state.aliases.get(name) ?? "";
  // Its text is parsed each time.
  for (let weight = 0; weight < 16; weight++) if (!run.step()) return;
  if (/\s$/.test(alias))
    run.report("unknown", "unknown-alias", `${shown(name)} has the next word taken for an alias as well`);
  const inside = state.clone();
  inside.aliases.delete(name);
  const quoted = args.map((arg) => `'${arg.replaceAll("'", "'\\''")}'`);
  run.script([alias, ...quoted].join(" "), inside, stdin, true);
};

/**
 * Judges a command of a shell: a function where there is one of that name. The program of that name is judged besides
 * wherever it may be what runs.
 */
export const runCommand = (
  run: Interpreter,
  words: readonly string[],
  state: ShellState,
  stdin: string | undefined,
): string => {
  const [name = "", ...args] = words;
  if (state.aliases.has(name)) runAlias(run, words, state, stdin);
  const nodes = state.functions.get(name);
  if (nodes === undefined) return runProgram(run, words, state, stdin);
  if (state.doubtful.has(name)) runProgram(run, words, state.clone(), stdin);
  return run.callFunction(nodes, args, state, stdin);
};

/** Judges a name with its arguments: a builtin, a program or a file. */
export const runProgram = (
  run: Interpreter,
  words: readonly string[],
  state: ShellState,
  stdin: string | undefined,
): string => {
  const [name = "", ...args] = words;
  noteVariables(run, state);
  if (isUnknown(name)) {
    run.report("unknown", "unknown-program-name", `the name of a program is not known: ${shown(name)}`);
    // What is unknown may be empty: r${x}m.
    const rest = withoutMarks(name);
    if (rest !== "" && findProgram(bareName(rest)) !== undefined)
      run.exec([rest, ...args], state.clone(), stdin);
    return dataMark;
  }
  if (isPattern(name) && name !== "[" && name !== "[[") {
    run.report("unknown", "unknown-program-name", `the name of a program is a pattern: ${shown(name)}`);
    for (const each of candidates(name)) run.exec([each, ...args], state.clone(), stdin);
    return dataMark;
  }
  const bare = bareName(name);
  if (name.includes("/") && !systemFolder.test(name)) {
    if (findProgram(bare) !== undefined) runKnown(run, bare, args, state.clone(), stdin);
    return runFile(run, name, args, state, stdin);
  }
  if (findProgram(bare) !== undefined) return runKnown(run, bare, args, state, stdin);
  const lower = bare.toLowerCase();
  if (findProgram(lower) !== undefined) runKnown(run, lower, args, state.clone(), stdin);
  return runUnlisted(run, bare, args, stdin);
};
