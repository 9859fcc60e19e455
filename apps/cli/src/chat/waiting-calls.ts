import {
  approvalRequestsOf,
  type ChatHarness,
  toApprovalPayload,
  type WaitingApproval,
} from "@harnesskit/chat-harness";
import type { ChatMessage, SignalDescriptor } from "@harnesskit/protocol/chat";
import { digest } from "@harnesskit/wire";
import { type AnswerCommand, findPending } from "../terminal/line-conversation.ts";
import type { Style } from "../terminal/terminal.ts";
import { oneLine } from "../terminal/text.ts";
import { askedCallLines } from "../timeline/asked-call.ts";

/** A turn that waits for a signal. */
export interface WaitingTurn {
  readonly invocation_id: string;
  readonly signal_descriptor: SignalDescriptor;
}

/** A call that was shown and can be answered. */
export interface WaitingCall {
  readonly id: string;
  /** What `id` is the beginning of. */
  readonly fullId: string;
  readonly invocationId: string;
  readonly request: WaitingApproval;
}

/** What was shown: safe lines, and the call that they ask about. */
export interface ShownCall {
  readonly lines: string[];
  readonly call?: WaitingCall;
  /** It was shown before with the same question. */
  readonly wasShown?: boolean;
}

/** How a call is answered with a line. */
export const answersText = (id: string): string => `  /approve ${id}   /reject ${id} [REASON]`;

const shortLength = 8;

const hasResult = (history: readonly ChatMessage[], callId: string): boolean => {
  const last = history.findLast(
    (message) =>
      (message.role === "tool" && message.tool_call_id === callId) ||
      (message.role === "assistant" && message.tool_calls?.some(({ id }) => id === callId) === true),
  );
  return last?.role === "tool";
};

/** Whether a turn was cancelled while its calls ran: nothing of it waits for the user. */
export const wasCancelled = (
  { signal_descriptor: descriptor }: WaitingTurn,
  history: readonly ChatMessage[],
): boolean => {
  const requests = approvalRequestsOf(descriptor);
  return requests.length > 0 && requests.every(({ call_id: id }) => hasResult(history, id));
};

/** The signal that answers a call, bound to what was shown. */
export const answerSignal = (
  { invocationId, request }: WaitingCall,
  sessionId: string,
  command: AnswerCommand,
): Parameters<ChatHarness["signal"]>[0] => {
  const { signal_id: signalId, call_id, digest } = request;
  const bound = { call_id, digest };
  const answer =
    command.kind === "approve"
      ? ({ decision: "approve", ...bound } as const)
      : ({ decision: "reject", ...bound, reason: command.reason } as const);
  return { invocationId, signalId, sessionId, payload: toApprovalPayload(answer) };
};

/** The calls that wait for an answer and were shown here: only what was shown can be approved. */
export class WaitingCalls {
  readonly #directory: string;
  readonly #style: Style;
  readonly #whyAsked: (callId: string) => string | undefined;
  readonly #calls = new Map<string, WaitingCall>();
  /** Turns of which several calls waited at once. */
  readonly #withPlaces = new Set<string>();

  /** @param whyAsked why the policy wants the user asked about a call. @default not known */
  constructor(
    directory: string,
    style: Style,
    whyAsked: (callId: string) => string | undefined = () => undefined,
  ) {
    this.#whyAsked = whyAsked;
    this.#directory = directory;
    this.#style = style;
  }

  /**
   * Takes a turn that waits, and gives what is shown of each of its calls. `history` tells calls that were cancelled while
   * they ran: they have a result, and are not run again.
   */
  async add(
    { invocation_id: invocationId, signal_descriptor: descriptor }: WaitingTurn,
    history: readonly ChatMessage[] = [],
  ): Promise<readonly ShownCall[]> {
    const requests = approvalRequestsOf(descriptor);
    if (requests.length === 0) return [{ lines: [`  It waits for the signal ${descriptor.signal_id}.`] }];
    const shown: ShownCall[] = [];
    if (requests.length > 1) this.#withPlaces.add(invocationId);
    for (const request of requests) {
      // The last part of a signal's id is the place of its call. The ids that were shown stay.
      const place = this.#withPlaces.has(invocationId) ? `.${request.signal_id.split(".").at(-1)}` : "";
      shown.push(await this.#add(request, invocationId, place, history));
    }
    return shown;
  }

  async #add(
    request: WaitingApproval,
    invocationId: string,
    place: string,
    history: readonly ChatMessage[],
  ): Promise<ShownCall> {
    const { tool, input, digest: claimed, problem, preview } = request;
    if ((await digest({ tool, input })) !== claimed) {
      const what = "A call waits whose digest is not that of what it shows: it is left alone.";
      return { lines: [`  ${this.#style.red("✗")} ${what}`] };
    }
    const id = this.#shortId(invocationId, place);
    const call = { id, fullId: `${invocationId}${place}`, invocationId, request };
    const before = this.#calls.get(id)?.request;
    const wasShown = before?.signal_id === request.signal_id && before.digest === claimed && !problem;
    this.#calls.set(id, call);
    if (hasResult(history, request.call_id)) {
      const what = `  ${this.#style.yellow("○")} ${oneLine(tool, 60)} was cancelled while it ran, and is not run again.`;
      const how = `  Say what to do now. /approve ${id} has the model go on with its turn in place of that`;
      return { lines: [what, how] };
    }
    const asked = { tool, input, preview, reason: problem ?? this.#whyAsked(request.call_id) };
    return {
      lines: await askedCallLines(asked, { directory: this.#directory }, this.#style),
      call,
      wasShown,
    };
  }

  #shortId(invocationId: string, place: string): string {
    for (let length = shortLength; length < invocationId.length; length++) {
      const id = `${invocationId.slice(0, length)}${place}`;
      const other = this.#calls.get(id);
      if (other === undefined || other.invocationId === invocationId) return id;
    }
    return `${invocationId}${place}`;
  }

  get ids(): readonly string[] {
    return [...this.#calls.keys()];
  }

  find(id: string): WaitingCall | string {
    return findPending(
      [...this.#calls.values()],
      id,
      (call) => call.id,
      (call) => call.fullId,
    );
  }

  remove(call: WaitingCall): void {
    this.#calls.delete(call.id);
  }

  clear(): void {
    this.#calls.clear();
  }
}
