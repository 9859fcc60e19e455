import type { Assignment, Command } from "unbash";
import { noteEnvironment } from "./environment.ts";
import type { Interpreter } from "./interpreter.ts";
import { unknownMark } from "./marks.ts";
import { applyRedirections } from "./redirections.ts";
import type { Fields, ShellState } from "./shell-state.ts";

const assignedFields = (run: Interpreter, node: Assignment, state: ShellState): Fields => {
  const made =
    node.value.type === "ArrayValue"
      ? node.value.elements.flatMap((word) => [...run.expander.fields(word, state)])
      : [run.expander.text(node.value, state)];
  if (node.value.type === "ArrayValue")
    for (const { text } of node.value.elements)
      if (text.startsWith("[")) run.expression(text.slice(1).split("]")[0] ?? "", state);
  if (node.index !== undefined) {
    const index = run.expander.text(node.index, state);
    if (/^BASH_(?:CMDS|ALIASES)$/.test(node.name))
      run.report("unknown", "search-path", `${node.name} makes a name stand for another program`);
    run.expression(index, state);
    const old = [...(state.variables.get(node.name) ?? [])];
    if (!/^\d{1,2}$/.test(index) || Number(index) > old.length) return [unknownMark];
    old[Number(index)] = made.join(" ");
    return old;
  }
  if (node.append !== true) return made;
  const old = run.expander.lookup(node.name, state);
  return node.value.type === "ArrayValue" ? [...old, ...made] : [`${old[0] ?? ""}${made[0] ?? ""}`];
};

/** Runs a command of the syntax: assignments, redirections, and the program or function that it names. */
export const runSimpleCommand = (
  run: Interpreter,
  node: Command,
  state: ShellState,
  stdin: string | undefined,
): string => {
  const assigned: [string, Fields][] = [];
  const words: string[] = [];
  if (node.name !== undefined) words.push(...run.expander.fields(node.name, state));
  for (const argument of node.args) {
    if (argument.type === "Word") words.push(...run.expander.fields(argument, state));
    else if (argument.value.type === "Word") {
      if (argument.index !== undefined) run.expression(run.expander.text(argument.index, state), state);
      words.push(
        `${argument.name}${argument.append === true ? "+" : ""}=${run.expander.text(argument.value, state)}`,
      );
    } else {
      state.variables.set(argument.name, assignedFields(run, argument, state));
      words.push(argument.name);
    }
  }
  for (const each of node.prefix) {
    if (each.type === "Assignment") assigned.push([each.name, assignedFields(run, each, state)]);
    // Later assignments see earlier ones where no program follows.
    if (each.type === "Assignment" && node.name === undefined)
      state.variables.set(each.name, assigned.at(-1)?.[1] ?? []);
  }
  const streams = applyRedirections(run, node.redirects, state, stdin);
  if (words.length === 0) {
    for (const [name, value] of assigned) noteEnvironment(run, name, value.join(" "), state);
    return streams.deliver("");
  }
  const before = assigned.map(([name]) => [name, state.variables.get(name)] as const);
  for (const [name, value] of assigned) {
    state.variables.set(name, value);
    noteEnvironment(run, name, value.join(" "), state);
  }
  const printed = run.command(words, state, streams.stdin);
  for (const [name, value] of before) {
    if (value === undefined) state.variables.delete(name);
    else state.variables.set(name, value);
  }
  if (words[0] === "exec" && words.length === 1 && node.redirects.length > 0) state.stdin = streams.stdin;
  return streams.deliver(printed);
};
