import type { CommandVerdict } from "../judgement.ts";
import { isUnknown, mayBeOption, unknownMark, withoutGlobMark } from "../marks.ts";
import { noteAssignment } from "../walk/environment.ts";
import { noteHost } from "./hosts.ts";
import { type Parsed, parseArguments } from "./parse-arguments.ts";
import { type Call, type Does, membersOf, noteEffect, operandsOf, type Spec, withOperands } from "./spec.ts";
import { suspectArguments } from "./suspect-arguments.ts";

const effects: { readonly [V in CommandVerdict]: Does } = {
  read: "read reads reads more",
  write: "write writes changes files",
  network: "network network connects to another machine",
  execute: "execute runs-code runs code or commands that it is given",
  unknown: "unknown unknown-option does what is not known",
  exfiltration: "exfiltration sends-data sends data away",
  privilege: "privilege raises-privilege raises rights",
  destructive: "destructive destroys destroys files or data",
};

/** The path of a word, for a kind that deletes. */
const noteDeleted = (call: Call, path: string): void => {
  const { walk, name } = call;
  walk.write(path, call.scope);
  walk.report("write", "deletes", `${name} deletes ${path}`);
  const bare = withoutGlobMark(path);
  if (/(?:^|\/)(?:\*+|\.\*|\.\[\^?.*\]\*)$|^(?:\/|~\/?|\.|\.\.|\.\/|\/\*)$/.test(bare) || /\uE003/.test(bare))
    walk.report("destructive", "sweeping-delete", `${name} deletes whatever is in ${path}`);
  if (
    /^\/(?:etc|usr|s?bin|lib\w*|boot|var|dev|opt|sys|proc)(?:\/|$)/.test(bare) &&
    !/^\/var\/tmp\//.test(bare)
  )
    walk.report("destructive", "deletes-system", `${name} deletes ${path}, a part of the system`);
  if (/(?:^|\/)\.git(?:\/(?!.*\.lock$)|$)/.test(bare))
    walk.report("destructive", "deletes-history", `${name} deletes what git keeps`);
};

/** Judges one value by its kind. */
const applyKind = (call: Call, kind: string, value: string): void => {
  const { walk, scope, name } = call;
  switch (kind) {
    case "text":
      break;
    case "number":
      if (!/^[+-]?[\d.,:%kKmMgGbBsh]*$/.test(value))
        walk.unknown("unknown-word", `${name}: ${value} is not a number`);
      break;
    case "list":
      walk.list(value, scope);
      break;
    case "read":
      walk.read(value, scope);
      break;
    case "tree":
      walk.tree(value, scope);
      break;
    case "write":
      walk.write(value, scope);
      break;
    case "delete":
      noteDeleted(call, value);
      break;
    case "shell":
      walk.report("execute", "runs-code", `${name} runs a command that it is given`);
      walk.script(value, scope.fresh(), undefined);
      break;
    case "program":
      walk.run(value.split(/\s+/), scope, unknownMark);
      break;
    case "host":
      noteHost(call, value);
      break;
    case "env":
      noteAssignment(walk, value.split("=")[0] ?? "", value.slice(value.indexOf("=") + 1), true, scope);
      break;
    default:
      walk.unknown("unknown-word", `${name}: the policy cannot tell what ${value} means`);
      suspectArguments({ ...call, args: [value] });
  }
};

const noteUnknown = (call: Call, spec: Spec, parsed: Parsed): void => {
  const { walk, name } = call;
  const isUncertain = parsed.isUncertain && spec.anyOption !== true;
  for (const option of parsed.unknown)
    walk.unknown("unknown-option", `the policy cannot tell what the option ${option} of ${name} does`);
  if (isUncertain) walk.unknown("unknown-word", `a word of ${name} is not known, and may be an option`);
  if (parsed.unknown.length > 0 || isUncertain) suspectArguments(call);
};

/** The kind of each operand; undefined for those that the table has no place for. */
const kindsOf = (kinds: readonly string[], count: number): readonly (string | undefined)[] => {
  const repeated = kinds.findIndex((kind) => kind.endsWith("..."));
  if (repeated === -1) return Array.from({ length: count }, (_, index) => kinds[index]);
  const head = kinds.slice(0, repeated);
  const tail = count > head.length ? kinds.slice(repeated + 1) : [];
  const middle = Math.max(0, count - head.length - tail.length);
  const all = [...head, ...Array<string>(middle).fill((kinds[repeated] ?? "").slice(0, -3)), ...tail];
  return all.slice(0, count);
};

const applyOperands = (call: Call, spec: Spec, parsed: Parsed): string | undefined => {
  const { walk, scope, name, stdin } = call;
  const isTree = spec.tree === "" || (spec.tree !== undefined && parsed.has(spec.tree));
  const kinds = operandsOf(spec.style === "words" ? withOperands(spec.usage ?? "") : (spec.usage ?? ""));
  const command = kinds.indexOf("command");
  const count = command === -1 ? parsed.operands.length : Math.min(command, parsed.operands.length);
  const found = kindsOf(kinds, count);
  found.forEach((kind, index) => {
    const value = parsed.operands[index] ?? "";
    if (kind === undefined) applyKind(call, "none", value);
    else applyKind(call, kind === "read" && isTree ? "tree" : kind, value);
  });
  const hasPath = found.some((kind) => /^(?:read|list|tree)$/.test(kind ?? ""));
  if (!hasPath && spec.fallback !== undefined) {
    if (isTree) walk.tree(spec.fallback, scope);
    else walk.list(spec.fallback, scope);
  }
  if (command === -1 || parsed.operands.length <= command) return undefined;
  const words = parsed.operands.slice(command);
  if (mayBeOption(words[0] ?? "")) walk.unknown("unknown-word", `the policy cannot tell what ${name} runs`);
  return walk.run(words, scope, stdin);
};

const withDash = ({ args, walk, name }: Call): readonly string[] => {
  const [first = "", ...rest] = args;
  if (!/^[A-Za-z]/.test(first)) return args;
  if (!/^[A-Za-eg-z]*f?$/.test(first) || /[CI]/.test(first))
    walk.unknown("unknown-option", `the policy cannot tell what ${name} ${first} does`);
  return [`-${first}`, ...rest];
};

/** Judges a program by its entry in the tables; returns what it prints where that is known. */
export const applySpec = (call: Call, spec: Spec): string | undefined => {
  const { walk, name } = call;
  const parsed = parseArguments(spec.dashless === true ? withDash(call) : call.args, spec);
  noteUnknown(call, spec, parsed);
  for (const { rule, value, isLate } of parsed.given) {
    if (isLate && value !== undefined && rule.kind === "text") walk.list(value, call.scope);
    if (value !== undefined && rule.kind !== undefined) applyKind(call, rule.kind, value);
    if (rule.verdict !== undefined) noteEffect(walk, effects[rule.verdict], `${name} ${rule.name}`);
  }
  if (spec.secrets === true)
    walk.secret("reads-environment", `${name} prints variables, which may hold secrets`);
  if (spec.network === true) walk.network(true);
  if (spec.does !== undefined && !(spec.unless !== undefined && parsed.has(spec.unless))) {
    if (noteEffect(walk, spec.does, name) === "unknown") suspectArguments(call);
  }
  spec.before?.(call, parsed);
  if (spec.commands !== undefined) {
    const [word, ...args] = parsed.operands;
    const command = word === undefined || isUnknown(word) ? undefined : membersOf(spec.commands).get(word);
    if (command !== undefined) return applySpec({ ...call, name: `${name} ${word}`, args }, command);
    if (word === undefined && operandsOf(spec.usage ?? "").length > 0) {
      spec.judge?.(call, parsed);
      return undefined;
    }
    if (word !== undefined || parsed.given.length === 0)
      walk.unknown("unknown-program", `the policy cannot tell what ${name} ${word ?? ""} does`);
    suspectArguments(call);
    spec.judge?.(call, parsed);
    return undefined;
  }
  const printed = applyOperands(call, spec, parsed);
  spec.judge?.(call, parsed);
  return spec.prints?.(call, parsed) ?? printed;
};
