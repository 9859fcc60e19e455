import type { Assignment, Command, Redirection } from "unbash";
import { isUnknown, unknownMark } from "../marks.ts";
import { noteAssignment } from "./environment.ts";
import type { Scope } from "./scope.ts";
import type { Walk } from "./walk.ts";

/** Judges redirections; returns what stands on the standard input afterwards. */
export const streamsOf = (
  walk: Walk,
  redirections: readonly Redirection[],
  scope: Scope,
  stdin: string | undefined,
): string | undefined => {
  let input = stdin;
  for (const each of redirections) {
    if (each.descriptor?.type === "FileDescriptorVariable")
      walk.unknown("unknown-assignment", `a redirection sets ${each.descriptor.name}`);
    if (each.type === "HereDoc") {
      input = each.body.parts === undefined ? each.body.text : walk.words.document(each.body.parts, scope);
      continue;
    }
    const [target = unknownMark, ...more] =
      each.target === undefined ? [] : walk.words.fields(each.target, scope);
    if (each.type === "HereString") {
      input = `${target}\n`;
      continue;
    }
    if (more.length > 0) walk.unknown("unknown-path", "the target of a redirection is not known");
    if (/^[<>]&$/.test(each.operator) && /^(?:\d+-?|-)$/.test(target)) continue;
    if (each.operator === "<" || each.operator === "<&") {
      walk.read(target, scope);
      input = target === "/dev/null" ? "" : unknownMark;
    } else walk.write(target, scope);
  }
  return input;
};

const assignedText = (walk: Walk, node: Assignment, scope: Scope): string => {
  const { index, value } = node;
  const hidden = (text: string): void =>
    walk.unknown("hidden-expression", `${text} is evaluated as an expression, and may run a command`);
  if (index !== undefined && !/^\d+$/.test(walk.words.text(index, scope))) hidden(node.text);
  if (value.type === "Word") return walk.words.text(value, scope);
  for (const word of value.elements) {
    for (const text of walk.words.fields(word, scope))
      if (text.startsWith("[") && !/^\[\d+\]=/.test(text)) hidden(text);
  }
  return unknownMark;
};

/** Judges a command of the syntax: its assignments, its redirections, and the program that it names. */
export const runSimpleCommand = (
  walk: Walk,
  node: Command,
  scope: Scope,
  stdin: string | undefined,
): string => {
  const words = node.name === undefined ? [] : walk.words.fields(node.name, scope);
  for (const each of node.prefix)
    if (each.type === "Assignment")
      noteAssignment(walk, each.name, assignedText(walk, each, scope), node.name !== undefined, scope);
  for (const argument of node.args) {
    if (argument.type === "Word") words.push(...walk.words.fields(argument, scope));
    else {
      const text = assignedText(walk, argument, scope);
      words.push(`${argument.name}=${argument.value.type === "Word" ? text : ""}`);
      // What looks like an assignment is one for `declare`, and a word that may be split for other programs.
      if (isUnknown(text)) words.push(unknownMark);
    }
  }
  const input = streamsOf(walk, node.redirects, scope, stdin);
  return words.length === 0 ? "" : walk.run(words, scope, input);
};
