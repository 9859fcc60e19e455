import { maxInstructions, maxReplyChars, maxRequestChars } from "./limits.ts";
import { type Instruction, parseRequest } from "./parse-request.ts";
import type { PartResult, PlannedCall, PlannedStep } from "./part.ts";
import { partOf } from "./parts.ts";
import { cut, inlineCode } from "./report.ts";
import type { ToolOutcome } from "./tool-outcome.ts";
import { offlineNote, type Transcript } from "./transcript.ts";

/** What to do next: say something and call tools, or give the final answer. */
export interface Decision {
  readonly text: string;
  /** Empty for the final answer. */
  readonly calls: readonly PlannedCall[];
}

/** Said once in a conversation. */
const note = `${offlineNote}: I followed fixed rules, and all of this comes from the tool results.`;

/** What it is, what it can do, and what to do for anything else: three lines. */
const help = (
  languageModelHint: string,
) => `${offlineNote}: I follow fixed rules, and need no key and no network.
I can: list files [in DIR], read FILE, search for TEXT [in DIR], run the command: COMMAND, edit FILE: replace "OLD" with "NEW", write FILE: TEXT, describe this repository, run the tests, use the tool NAME with JSON; several joined by "then".
${languageModelHint}`;

const defaultHint = "For anything else, choose a language model.";

/** A greeting, or a question about what there is to ask for. */
const asksForHelp =
  /^\W*(?:(?:hi|hey|hello|help|usage|what can you do|who are you|what are you)\b\W*|\?\W*)?$/i;

/**
 * Decides the next step from the transcript alone. The plan of the request is replayed with the outcomes that are
 * recorded; the first calls without one are the next step. Only the user's own words are read as instructions.
 */
export function decide(
  transcript: Transcript,
  tools: ReadonlySet<string>,
  languageModelHint = defaultHint,
): Decision {
  const { request } = transcript;
  const about = help(languageModelHint);
  if (request.trim() !== "" && asksForHelp.test(request)) return textReply(about);
  const { instructions: asked, leftOut, tooLong } = parseRequest(request);
  if (tooLong) {
    return textReply(
      `The request is longer than ${maxRequestChars} characters, and half a request would be another one: I did nothing.\n\n${about}`,
    );
  }
  if (asked.every(({ kind }) => kind === "unknown")) return textReply(declined(asked, about));
  const instructions = asked.map((instruction) => withKnownTool(instruction, tools));
  const records = [...transcript.records];
  const take = (tool: string): ToolOutcome | undefined => {
    const index = records.findIndex((record) => record.tool === tool);
    // What lies before belongs to calls that this plan does not make.
    return index < 0 ? undefined : records.splice(0, index + 1).at(-1)?.outcome;
  };
  const plan = carryOut(instructions);
  let next = plan.next();
  while (next.done !== true) {
    const { say, ...call } = next.value;
    const outcome: ToolOutcome | undefined = tools.has(call.tool)
      ? take(call.tool)
      : { status: "unavailable" };
    if (outcome === undefined) return { text: say, calls: [call] };
    next = plan.next(outcome);
  }
  const read = new Set(instructions.flatMap((part) => (part.kind === "read" ? [part.path] : [])));
  const unread = transcript.attachments.filter((name) => !read.has(name)).length;
  return textReply(summary(next.value, { leftOut, unread, hasNote: transcript.hasNote }));
}

/**
 * Carries out instructions one after the other. One that failed does not keep the others from being done, except
 * those that need what it should have changed; after a cancelled call nothing more is begun.
 */
function* carryOut(instructions: readonly Instruction[]): Generator<PlannedStep, PartResult[], ToolOutcome> {
  const results: PartResult[] = [];
  for (const instruction of instructions) {
    const reason = results
      .map((result, index) => obstacle(instruction, instructions[index], result))
      .find(Boolean);
    if (instruction.kind === "unknown") {
      const text = inlineCode(instruction.text);
      results.push({ status: "not-done", report: `I did not understand this part: ${text}.` });
    } else if (reason === undefined) results.push(yield* partOf(instruction));
    else results.push({ status: "not-done", report: reason });
  }
  return results;
}

/** Why an instruction cannot be begun after how an earlier one ended, if so. */
const obstacle = (
  instruction: Instruction,
  earlier: Instruction | undefined,
  { status }: PartResult,
): string | undefined => {
  if (status === "cancelled") return "Not begun, because the work was cancelled before.";
  if (status === "done" || (earlier?.kind !== "write" && earlier?.kind !== "edit")) return undefined;
  const needed =
    instruction.kind === "test" ||
    ((instruction.kind === "read" || instruction.kind === "edit") && instruction.path === earlier.path) ||
    (instruction.kind === "run" && instruction.command.includes(earlier.path));
  return needed
    ? `Not begun, because it needs the change of ${inlineCode(earlier.path)} that was not made.`
    : undefined;
};

const normalised = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "_");

/**
 * The instruction with the name by which the tool is known here, where the user's words mean exactly one: its id or name, in
 * any spelling of the marks between the words, or the part of it behind its agent.
 */
const withKnownTool = (instruction: Instruction, names: ReadonlySet<string>): Instruction => {
  if (instruction.kind !== "use") return instruction;
  const wanted = normalised(instruction.tool);
  const all = [...names];
  const exact = all.filter((name) => normalised(name) === wanted);
  const found = exact.length > 0 ? exact : all.filter((name) => normalised(name).endsWith(`_${wanted}`));
  return found.length === 1 ? { ...instruction, tool: found[0] as string } : instruction;
};

function declined(instructions: readonly Instruction[], about: string): string {
  const parts = instructions.flatMap((part) => (part.kind === "unknown" ? [inlineCode(part.text)] : []));
  if (parts.length === 0) return `There was no request.\n\n${about}`;
  return `I did not understand ${parts.join(", ")}.\n\n${about}`;
}

function summary(
  finished: readonly PartResult[],
  {
    leftOut,
    unread,
    hasNote,
  }: { readonly leftOut: number; readonly unread: number; readonly hasNote: boolean },
): string {
  const share = Math.floor((maxReplyChars - 1_000) / Math.max(1, finished.length));
  const reports = finished.map((result, index) => {
    const report = cutReport(result.report, share);
    return finished.length === 1 ? report : `${index + 1}. ${report}`;
  });
  const notes = [
    leftOut > 0 ? `I carry out ${maxInstructions} parts at most; ${leftOut} more were left out.` : "",
    unread > 0 ? "I did not look at the attached files." : "",
    hasNote ? "" : note,
  ].filter((text) => text !== "");
  return [...reports, ...(notes.length === 0 ? [] : [notes.join(" ")])].join("\n\n");
}

/** A report that is cut could leave a code block open: it is closed with its own fence. */
function cutReport(report: string, maxChars: number): string {
  if (report.length <= maxChars) return report;
  const kept = cut(report, maxChars);
  let fence: string | undefined;
  for (const line of kept.split("\n")) {
    if (fence === undefined) fence = /^`{3,}$/.exec(line)?.[0];
    else if (line === fence) fence = undefined;
  }
  const open = fence === undefined ? "" : `\n${fence}`;
  return `${kept}${open}\n(cut here)`;
}

function textReply(text: string): Decision {
  return { text: cut(text, maxReplyChars), calls: [] };
}
