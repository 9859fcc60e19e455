import type { Call, Program } from "../call.ts";
import { taintOf, unknownMark } from "../marks.ts";
import type { ShellState } from "../shell-state.ts";
import { entries } from "./program-entry.ts";
import { writtenContents } from "./written-contents.ts";

/** What a new shell knows of the old one. */
const child = (state: ShellState, args: readonly string[]): ShellState => {
  const inside = state.clone();
  inside.positional = args;
  // Functions do not reach a new shell unless they are exported; keeping them would hide the programs of their names.
  inside.functions.clear();
  inside.aliases.clear();
  inside.variables.delete("IFS");
  return inside;
};

/** Runs a file as a script where its content is known. */
const runScriptFile = (call: Call, path: string, args: readonly string[], state: ShellState): string => {
  const content = call.run.read(path, call.state);
  const contents = writtenContents(path, call.state);
  if (path === "/dev/stdin" || path === "/dev/fd/0")
    return call.run.script(call.stdin ?? unknownMark, state, undefined, state === call.state);
  if (contents.length === 0) {
    call.run.report("unknown", "runs-file", `${call.name} runs a file whose content is not known`);
    return taintOf(call.stdin, content);
  }
  state.positional = args;
  return contents.map((each) => call.run.script(each, state, call.stdin, state === call.state)).join("");
};

const shell: Program = (call) => {
  const { args, run, state, stdin, name } = call;
  let rest = [...args];
  let text = false;
  let fromInput = false;
  for (let next = rest[0]; next !== undefined; next = rest[0]) {
    if (next === "--" || next === "-") {
      rest = rest.slice(1);
      break;
    }
    if (!/^[-+]/.test(next) || next.length === 1) break;
    rest = rest.slice(1);
    if (/^(?:--rcfile|--init-file)$/.test(next))
      runScriptFile(call, rest.shift() ?? "", [], child(state, []));
    else if (next.startsWith("--")) continue;
    else {
      if (next.startsWith("-") && next.includes("c")) text = true;
      if (next.includes("s")) fromInput = true;
      if (/[oO]$/.test(next)) rest = rest.slice(1);
    }
  }
  const [first, ...others] = rest;
  // -n reads and checks, and runs nothing.
  if (args[0] === "-n" && first !== undefined && !text) return run.read(first, state);
  if (text) {
    if (first === undefined) return undefined;
    const inside = child(state, others.slice(1));
    if (others[0] !== undefined) inside.variables.set("0", [others[0]]);
    return run.script(first, inside, stdin);
  }
  if (first !== undefined && !fromInput) return runScriptFile(call, first, others, child(state, others));
  if (stdin === undefined) {
    run.report("unknown", "interactive", `${name} waits for commands that are not known`);
    return undefined;
  }
  if (stdin !== "") return run.script(stdin, child(state, rest), undefined);
  return "";
};

const evaluate: Program = ({ args, run, state, stdin }) => {
  const words = args[0] === "--" ? args.slice(1) : args;
  return run.script(words.join(" "), state, stdin, true);
};

const source: Program = (call) => {
  const [path, ...args] = call.args[0] === "--" ? call.args.slice(1) : call.args;
  if (path === undefined) return undefined;
  const { positional } = call.state;
  const printed = runScriptFile(call, path, args, call.state);
  call.state.positional = positional;
  return printed;
};

export const shellPrograms = [
  ...entries("sh bash dash zsh ksh ksh93 mksh ash rbash fish csh tcsh yash posh", shell),
  ...entries("eval", evaluate),
  ...entries("source .", source),
];
