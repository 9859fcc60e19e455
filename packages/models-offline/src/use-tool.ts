import { callOne, done, notDone, type Part } from "./part.ts";
import { codeBlock, inlineCode } from "./report.ts";
import type { Instruction, InstructionOf } from "./verbs.ts";

const normalised = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "_");

/**
 * The instruction with the name by which the tool is known here, where the user's words mean exactly one: its id or name, in
 * any spelling of the marks between the words, or the part of it behind its agent.
 */
export const withKnownTool = (instruction: Instruction, names: ReadonlySet<string>): Instruction => {
  if (instruction.kind !== "use") return instruction;
  const wanted = normalised(instruction.tool);
  const all = [...names];
  const exact = all.filter((name) => normalised(name) === wanted);
  const found = exact.length > 0 ? exact : all.filter((name) => normalised(name).endsWith(`_${wanted}`));
  return found.length === 1 ? { ...instruction, tool: found[0] as string } : instruction;
};

/** Calls the tool that the user named, and reports what it returned. */
export function* useTool({ tool, input }: InstructionOf<"use">): Part {
  const outcome = yield* callOne(`I use the tool ${inlineCode(tool)}.`, { tool, input });
  if (outcome.status !== "ok") return notDone(tool, `using ${inlineCode(tool)}`, outcome);
  const { value } = outcome;
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return done(`${inlineCode(tool)} returned:\n${codeBlock(text, { keep: "start" })}`);
}
