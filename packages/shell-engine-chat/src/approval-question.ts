import { type ApprovalRequest, approvalRequestOf } from "@harnesskit/chat-harness";
import type { SignalDescriptor } from "@harnesskit/protocol/chat";
import type { JsonValue } from "@harnesskit/protocol/envelope";
import type { ActionDirective } from "@harnesskit/protocol/openharness";
import { ShellErrorCode } from "@harnesskit/protocol/openharness";
import { ShellEngineError } from "@harnesskit/shell-engine";
import { displayText } from "@harnesskit/wire";
import { digest, jsonProblem } from "@harnesskit/wire/json";
import type { ApprovalLook } from "./chat-shell-options.ts";
import type { KnownCall } from "./tool-result.ts";

/** What of a call's input a question can hold. A user cannot judge what is longer, and it would not fit into a response. */
const maxInputBytes = 200_000;
/** What is longer is left out: the input is shown whole. */
const maxPreviewLength = 100_000;
const maxTitleLength = 120;
const maxMessageLength = 4_000;

/** A pause of a turn that a user can end. */
export interface ApprovalPause {
  readonly invocationId: string;
  readonly signalId: string;
  readonly request: ApprovalRequest;
  /** Messages of this turn that the shell was shown since it was resumed. */
  readonly shown: number;
}

/**
 * What a turn waits for: an approval, one that is too long or too deep to be shown, one whose digest is of another call, or something else.
 */
export type Pause =
  | { readonly kind: "approval" | "too_long" | "foreign"; readonly pause: ApprovalPause }
  | { readonly kind: "other" };

export const readPause = async (
  invocationId: string,
  descriptor: SignalDescriptor,
  shown: number,
): Promise<Pause> => {
  const request = approvalRequestOf(descriptor);
  if (request === undefined) return { kind: "other" };
  const pause = { invocationId, signalId: descriptor.signal_id, request, shown };
  const { tool, input } = request;
  if (jsonProblem(input, { maxBytes: maxInputBytes })) return { kind: "too_long", pause };
  const isWhatItSays = (await digest({ tool, input })) === request.digest;
  return { kind: isWhatItSays ? "approval" : "foreign", pause };
};

const titleLine = (text: string): string => displayText(text, { maxLength: maxTitleLength });

/** The question. The tool, its input and the digest of both are in it, and so the user's answer is bound to them. */
export const approvalQuestion = (
  { signalId, request }: ApprovalPause,
  look: ApprovalLook,
): ActionDirective => {
  const { tool, input, problem, preview } = request;
  const shown = preview === undefined || preview.length > maxPreviewLength ? {} : { preview };
  const { title = `Run ${titleLine(tool)}?`, riskTier = "caution" } = look;
  const again = problem === undefined ? "" : `It is asked again: ${problem}. `;
  const message = look.message ?? `${again}The tool ${titleLine(tool)} waits for your approval.`;
  return {
    action_type: "request_approval",
    risk_tier: riskTier,
    payload: {
      title: titleLine(title),
      message: displayText(message, { multiline: true, maxLength: maxMessageLength }),
      subject: { tool, input, ...shown, digest: request.digest, signal_id: signalId },
    },
  };
};

/** What the run leaves until its answer comes. */
export const runDataOf = ({ signalId, request, shown }: ApprovalPause): JsonValue => ({
  signal_id: signalId,
  digest: request.digest,
  call_id: request.call_id,
  tool: request.tool,
  shown,
});

/** What an answer is about. */
export interface AskedBefore {
  readonly signalId: string;
  readonly digest: string;
  readonly shown: number;
  readonly calls: ReadonlyMap<string, KnownCall>;
}

/** Reads it back. Throws `continuation_expired` for data of another form. */
export const readRunData = (data: JsonValue | undefined): AskedBefore => {
  const {
    signal_id,
    digest: bound,
    call_id,
    tool,
    shown,
  } = (data ?? {}) as Readonly<Record<string, unknown>>;
  const isWhole =
    typeof signal_id === "string" &&
    typeof bound === "string" &&
    typeof call_id === "string" &&
    typeof tool === "string" &&
    typeof shown === "number";
  if (!isWhole) {
    const words = "The question is not known any more; it is asked again.";
    throw new ShellEngineError(ShellErrorCode.ContinuationExpired, words);
  }
  const calls = new Map([[call_id, { tool, input: undefined }]]);
  return { signalId: signal_id, digest: bound, shown, calls };
};
