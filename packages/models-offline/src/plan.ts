import { ambiguityHint, carryOut, type FinishedPart } from "./carry-out.ts";
import { maxCallsPerTask, maxInstructions, maxReplyChars, maxRequestChars } from "./limits.ts";
import { parseInstructions } from "./parse-instructions.ts";
import type { PlannedCall } from "./part.ts";
import { cut, inlineCode } from "./report.ts";
import type { ToolOutcome } from "./tool-outcome.ts";
import { offlineNote, type Transcript } from "./transcript.ts";
import { withKnownTool } from "./use-tool.ts";
import type { Instruction } from "./verbs.ts";

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
  const { instructions, leftOut, tooLong } = parseInstructions(request);
  if (tooLong) {
    return textReply(
      `The request is longer than ${maxRequestChars} characters, and half a request would be another one: I did nothing.\n\n${about}`,
    );
  }
  if (instructions.every(({ kind }) => kind === "unknown")) return textReply(declined(instructions, about));
  const records = [...transcript.records];
  const take = (tool: string): ToolOutcome | undefined => {
    const index = records.findIndex((record) => record.tool === tool);
    // What lies before belongs to calls that this plan does not make.
    return index < 0 ? undefined : records.splice(0, index + 1).at(-1)?.outcome;
  };
  const plan = carryOut(instructions.map((instruction) => withKnownTool(instruction, tools)));
  let made = 0;
  let next = plan.next();
  while (next.done !== true) {
    const { say, calls } = next.value;
    const outcomes = calls.map((call): ToolOutcome | undefined => {
      if (!tools.has(call.tool)) return { status: "unavailable" };
      made += 1;
      if (made > maxCallsPerTask) return limitReached;
      return take(call.tool);
    });
    const open = calls.filter((_, index) => outcomes[index] === undefined);
    if (open.length > 0) return { text: say, calls: open };
    next = plan.next(outcomes.filter((outcome) => outcome !== undefined));
  }
  return textReply(summary(next.value, leftOut, transcript));
}

const limitReached: ToolOutcome = {
  status: "failed",
  reason: `the limit of ${maxCallsPerTask} tool calls for one request is reached`,
};

function declined(instructions: readonly Instruction[], about: string): string {
  const parts = instructions.flatMap((part) => (part.kind === "unknown" ? [inlineCode(part.text)] : []));
  if (parts.length === 0) return `There was no request.\n\n${about}`;
  const ambiguous = instructions.some((part) => part.kind === "unknown" && part.reason === "ambiguous");
  const hint = ambiguous ? ` ${ambiguityHint}` : "";
  return `I did not understand ${parts.join(", ")}.${hint}\n\n${about}`;
}

function summary(
  finished: readonly FinishedPart[],
  leftOut: number,
  { attachments, hasNote }: Transcript,
): string {
  const share = Math.floor((maxReplyChars - 1_000) / Math.max(1, finished.length));
  const reports = finished.map(({ result }, index) => {
    const report = cutReport(result.report, share);
    return finished.length === 1 ? report : `${index + 1}. ${report}`;
  });
  const notes = [
    leftOut > 0 ? `I carry out ${maxInstructions} parts at most; ${leftOut} more were left out.` : "",
    attachments > 0 ? "I did not look at the attached files." : "",
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
