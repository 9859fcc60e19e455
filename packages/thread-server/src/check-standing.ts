import type { ApprovalMetadata, Event } from "@harnesskit/protocol/threads";
import { canonicalJson, digest } from "@harnesskit/wire";
import { promptPermission } from "./approval-flow.ts";
import { promptDigest } from "./prompt-digest.ts";
import type { StandingCall, StandingPrompt } from "./standing-calls.ts";
import type { ThreadState } from "./thread-state.ts";

const isSame = (one: unknown, other: unknown): boolean => {
  try {
    return canonicalJson(one) === canonicalJson(other);
  } catch {
    // A value without a canonical form was never asked about.
    return false;
  }
};

/** Whether a client that reads the question sees what its digest stands for. */
const isBound = async (metadata: ApprovalMetadata, expected: () => Promise<string>): Promise<boolean> => {
  try {
    return (await expected()) === metadata.digest;
  } catch {
    return false;
  }
};

const isCallIntact = async ({ question, call }: StandingCall, state: ThreadState): Promise<boolean> => {
  const { permission, metadata, requestId } = question.data;
  const { tool, input } = metadata;
  const asked = state.requestedMetadata(requestId);
  return (
    permission === tool &&
    isSame({ tool, input }, { tool: call.data.tool, input: call.data.input }) &&
    (asked === undefined || isSame(asked, metadata)) &&
    (await isBound(metadata, () => digest({ tool, input })))
  );
};

const isPromptIntact = async (
  { question, message }: StandingPrompt,
  state: ThreadState,
): Promise<boolean> => {
  const { metadata, requestId } = question.data;
  const { text } = metadata.input;
  const asked = state.requestedMetadata(requestId);
  return (
    metadata.tool === promptPermission &&
    typeof text === "string" &&
    (asked === undefined || isSame(asked, metadata)) &&
    (await isBound(metadata, () => promptDigest(text, message.data?.content ?? [])))
  );
};

/** Questions of a log that wait for a human. */
export interface Standing {
  readonly calls: readonly StandingCall[];
  readonly prompt: StandingPrompt | undefined;
}

/**
 * Whether what a log says of its waiting questions fits together: the input that is shown is the one of the call, and the
 * digest that an answer binds is the digest of that input. A file that others can write does not choose what is approved.
 */
export const isStandingIntact = async ({ calls, prompt }: Standing, state: ThreadState): Promise<boolean> => {
  const checks = calls.map((call) => isCallIntact(call, state));
  if (prompt) checks.push(isPromptIntact(prompt, state));
  return (await Promise.all(checks)).every(Boolean);
};

/** The question that an event of a log asks, if it asks one. */
const questionOf = (event: Event): { requestId: string; metadata: ApprovalMetadata } | undefined => {
  if (event.type === "approval.requested") return event.data;
  if (event.type !== "item.started" || event.data.item.type !== "approval") return undefined;
  return event.data.item.data;
};

/** Whether an event as it was read says of a waiting question what this server asked. */
export const isAsAsked = (
  event: Event,
  waiting: (requestId: string) => ApprovalMetadata | undefined,
): boolean => {
  const read = questionOf(event);
  const asked = read && waiting(read.requestId);
  return !asked || isSame(asked, read.metadata);
};
