import { runCommand, runTests } from "./command-parts.ts";
import { describeRepository } from "./describe-repository.ts";
import { editFile, listFiles, readFile, searchText, writeFile } from "./file-parts.ts";
import type { Part, PartResult, PlannedStep } from "./part.ts";
import { inlineCode } from "./report.ts";
import type { ToolOutcome } from "./tool-outcome.ts";
import { useTool } from "./use-tool.ts";
import type { Instruction, InstructionOf } from "./verbs.ts";

/** What to do about an edit without quotes whose two strings cannot be separated. */
export const ambiguityHint = "It can be read in more than one way: put the old and the new text in quotes.";

/** An instruction and how it ended. */
export interface FinishedPart {
  readonly instruction: Instruction;
  readonly result: PartResult;
}

/**
 * Carries out instructions one after the other. One that failed does not keep the others from being done, except
 * those that need what it should have changed; after a cancelled call nothing more is begun.
 */
export function* carryOut(
  instructions: readonly Instruction[],
): Generator<PlannedStep, FinishedPart[], readonly ToolOutcome[]> {
  const finished: FinishedPart[] = [];
  for (const instruction of instructions) {
    finished.push({ instruction, result: yield* resultOf(instruction, finished) });
  }
  return finished;
}

function* resultOf(instruction: Instruction, finished: readonly FinishedPart[]): Part {
  if (instruction.kind === "unknown") return notUnderstood(instruction);
  const reasons = finished.map((earlier) => obstacle(instruction, earlier));
  const reason = reasons.find((text) => text !== undefined);
  return reason === undefined
    ? yield* (parts[instruction.kind] as (given: Instruction) => Part)(instruction)
    : { status: "not-done", report: reason };
}

type Kind = Exclude<Instruction["kind"], "unknown">;

const parts: { readonly [K in Kind]: (instruction: InstructionOf<K>) => Part } = {
  list: listFiles,
  read: readFile,
  search: searchText,
  run: runCommand,
  edit: editFile,
  write: writeFile,
  use: useTool,
  describe: describeRepository,
  test: runTests,
};

function notUnderstood({ text, reason }: InstructionOf<"unknown">): PartResult {
  const hint = reason === "ambiguous" ? ` ${ambiguityHint}` : "";
  return { status: "not-done", report: `I did not understand this part: ${inlineCode(text)}.${hint}` };
}

/** Why an instruction cannot be begun after how an earlier one ended, if so. */
function obstacle(
  instruction: Instruction,
  { instruction: earlier, result }: FinishedPart,
): string | undefined {
  if (result.status === "cancelled") return "Not begun, because the work was cancelled before.";
  if (result.status === "done" || (earlier.kind !== "write" && earlier.kind !== "edit")) return undefined;
  const needed =
    instruction.kind === "test" ||
    ((instruction.kind === "read" || instruction.kind === "edit") && instruction.path === earlier.path) ||
    (instruction.kind === "run" && instruction.command.includes(earlier.path));
  return needed
    ? `Not begun, because it needs the change of ${inlineCode(earlier.path)} that was not made.`
    : undefined;
}
