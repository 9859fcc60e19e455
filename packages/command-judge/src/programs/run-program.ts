import { hasMark, unknownMark } from "../marks.ts";
import type { Scope } from "../walk/scope.ts";
import type { Walk } from "../walk/walk.ts";
import { applySpec } from "./apply-spec.ts";
import { noteCommandReader } from "./reads-commands.ts";
import type { Call, Spec } from "./spec.ts";
import { suspectArguments } from "./suspect-arguments.ts";
import { programTable } from "./table.ts";

const systemFolder = /^\/(?:usr\/(?:local\/)?)?s?bin\/(?=[^/]+$)/;

const listed = (name: string, { lists }: Walk): Spec | undefined => {
  if (lists.read?.includes(name) === true) return { style: "words", usage: "read..." };
  if (lists.write?.includes(name) === true)
    return { style: "words", usage: "write...", does: "write writes changes files" };
  return undefined;
};

const unknownProgram = (call: Call): undefined => {
  const { name, walk } = call;
  const isFile = name.includes("/");
  const why = isFile ? "a file whose content is not checked" : "a program that the tables do not know";
  walk.unknown(isFile ? "runs-file" : "unknown-program", `it runs ${name}, ${why}`);
  suspectArguments(call);
};

/** Judges a program by the tables; returns what it prints, or a mark. */
export const runProgram = (
  walk: Walk,
  words: readonly string[],
  scope: Scope,
  stdin: string | undefined,
): string => {
  const [word = "", ...args] = words;
  const name = word.replace(systemFolder, "");
  const call: Call = { name, args, stdin, scope, walk };
  walk.program(name);
  noteCommandReader(call);
  if (hasMark(name)) {
    walk.unknown("unknown-program", `the name of a program is not known before it runs: ${words.join(" ")}`);
    suspectArguments({ ...call, args: words });
    return unknownMark;
  }
  const spec = listed(name, walk) ?? programTable().get(name);
  if (spec !== undefined) return applySpec(call, spec) ?? unknownMark;
  unknownProgram(call);
  // Some file systems do not tell upper and lower case apart.
  const lower = name.toLowerCase();
  const other = lower === name ? undefined : programTable().get(lower);
  if (other !== undefined) applySpec({ ...call, name: lower }, other);
  return unknownMark;
};
