import {
  type Always,
  type ApprovalRecord,
  type InputPattern,
  presentApproval,
  shortestPattern,
} from "@harnesskit/approvals";
import { type HubClient, HubError } from "@harnesskit/hub/client";
import { type AlwaysChoice, type AskTerminal, askUser } from "../terminal/asker.ts";
import { oneLine } from "../terminal/text.ts";
import { shownWhole } from "../timeline/approval-lines.ts";
import { startHint } from "../timeline/asked-call.ts";

type Reach = "session" | "agent" | "pattern";

const reaches: readonly AlwaysChoice<Reach>[] = [
  { reach: "session", label: "Always in this session", hint: "for exactly this" },
  { reach: "agent", label: "Always for this agent", hint: "for exactly this, in all its sessions" },
];

/** The narrowest pattern of a command, such as `npm test*`, as a choice. */
const patternChoice = (pattern: InputPattern | undefined): readonly AlwaysChoice<Reach>[] =>
  Object.values(pattern ?? {}).flatMap((field) =>
    "startsWith" in field
      ? [
          {
            reach: "pattern",
            label: `Always ${oneLine(field.startsWith, 60)}* in this session`,
            hint: startHint,
          },
        ]
      : [],
  );

/** What a refusal of an answer means, in words. */
export const describeEnd = (error: HubError): string => {
  const { record } = error;
  if (error.code === "already_answered" && record?.answer !== undefined) {
    return `it was answered before: ${record.status} by ${record.answer.by}`;
  }
  return error.message;
};

const alwaysOf = (reach: Reach, input: InputPattern | undefined): Always =>
  reach === "pattern" ? { reach: "session", input } : { reach };

/**
 * Shows a question, asks for one answer at the terminal and gives it. Resolves with undefined where it was given or the signal aborted,
 * with `later` after Esc and `interrupted` after Ctrl-C, which leave it waiting, and with why the hub did not take the answer, in safe words.
 */
export const answerOne = async (
  client: HubClient,
  record: ApprovalRecord,
  lines: readonly string[],
  signal: AbortSignal,
  terminal: AskTerminal,
): Promise<string | undefined> => {
  const pattern = shortestPattern(record);
  const always = presentApproval(record, shownWhole).isWhole ? [...reaches, ...patternChoice(pattern)] : [];
  const answer = await askUser({ lines, always, canWait: true }, signal, terminal);
  if (typeof answer !== "object") return answer;
  const { id, digest } = record;
  const { decision } = answer;
  try {
    await client.call("inbox.answer", {
      ...{ id, digest, decision },
      note: decision === "reject" ? answer.reason : undefined,
      always: decision === "approve" && answer.always ? alwaysOf(answer.always, pattern) : undefined,
    });
    return undefined;
  } catch (error) {
    if (HubError.isInstance(error)) return describeEnd(error);
    throw error;
  }
};
