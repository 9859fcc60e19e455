import {
  type ChatApprovalAnswer,
  type Delivery,
  type PendingTurn,
  type SignalOutcome,
  toApprovalPayload,
} from "@harnesskit/chat-harness";
import type { ChatMessage, ChatTurnOutcome } from "@harnesskit/protocol/chat";
import {
  type ActionDirective,
  type ShellApprovalAnswer as ShellAnswer,
  ShellCapability,
  ShellErrorCode,
} from "@harnesskit/protocol/openharness";
import { type ResumedRun, type ShellCall, ShellEngineError, type ShellReply } from "@harnesskit/shell-engine";
import { callSafely } from "@harnesskit/wire";
import {
  type ApprovalPause,
  approvalQuestion,
  readPause,
  readRunData,
  runDataOf,
} from "./approval-question.ts";
import { attachedMessage, filesOfRequest } from "./attached-message.ts";
import type { ChatHandler } from "./chat-handler.ts";
import { carriesMark, markEnd } from "./ended-turns.ts";
import { streamMetadata } from "./stream-turn.ts";
import { type KnownCall, renderAsCard } from "./tool-result.ts";
import { isLong, say, shortened, turnDirectives } from "./turn-directives.ts";
import { alreadyAnswered, turnFailure } from "./turn-failure.ts";
import { resumedSignal, turnSignal } from "./turn-signal.ts";

const maxReasonLength = 10_000;
/** How many approvals in a row are refused in the place of a shell that cannot ask; the next one is left waiting. */
const maxRefusals = 10;

const noCalls: ReadonlyMap<string, KnownCall> = new Map();
const waitText = "This waits for something outside of this conversation, and continues by itself.";
const underWayText = "A call that was answered is still running.";
const foreignText = "A call waits whose content does not match its digest: it is left alone.";
const lacksApproval = "The user's shell cannot ask for approvals.";
const tooLong = "The call nests too deeply or is too long to be shown to the user, who must approve it.";

type SuspendedTurn = Extract<ChatTurnOutcome, { outcome: "suspended" }>;
type Waiting = Pick<ApprovalPause, "invocationId" | "signalId" | "shown">;

/** Whether a request says something to the conversation, or only asks what there is. */
export const saysSomething = <Context>({ intent = "", attachments }: ShellCall<Context>): boolean =>
  intent.trim() !== "" || attachments.length > 0;

/** One request of a shell: what it leads to in its conversation, and what is shown of that. */
export class RequestTurn<Context> {
  readonly #shared: ChatHandler<Context>;
  readonly #call: ShellCall<Context>;
  readonly #sessionId: string;
  readonly #directives: ActionDirective[] = [];
  /** Resumed turns whose ends this request reports. */
  readonly #reported: string[] = [];
  #question: ApprovalPause | undefined;
  #refusals = 0;

  constructor(shared: ChatHandler<Context>, call: ShellCall<Context>, sessionId: string) {
    this.#shared = shared;
    this.#call = call;
    this.#sessionId = sessionId;
  }

  get #canAsk(): boolean {
    return this.#call.capabilities.has(ShellCapability.Approval);
  }

  /** Sends the user's message to the harness. Throws a `ShellEngineError` for a turn that fails. */
  async say(): Promise<void> {
    const { harness, attachments } = this.#shared.options;
    const call = this.#call;
    const { message, dropped } = await attachedMessage(call, filesOfRequest(call, attachments));
    if (dropped !== undefined) this.#directives.push(say(dropped));
    if (message === undefined) return;
    const options = { signal: turnSignal(call), ...streamMetadata(call) };
    const turn = await harness.send(this.#sessionId, message, options);
    if (turn.outcome === "errored") throw turnFailure(turn, false);
    if (turn.outcome === "suspended") await this.#pause(turn, 0, noCalls);
    else this.#directives.push(...this.#show(turn.replies, noCalls));
  }

  /** Continues the turn that was asked about. Throws `continuation_used` if it was answered before. */
  async answer(run: ResumedRun, { decision, reason }: ShellAnswer): Promise<void> {
    const { signalId, digest, shown, calls } = readRunData(run.data);
    const words = reason?.trim().slice(0, maxReasonLength);
    const answer: ChatApprovalAnswer =
      decision === "approved"
        ? { decision: "approve", digest }
        : { decision: "reject", digest, reason: words || undefined };
    const waiting = { invocationId: run.id, signalId, shown };
    const result = await this.#signal(waiting, answer);
    const isUnknown =
      result.outcome === "errored" && result.error_category === "harness_signal_correlation_failed";
    if (result.outcome === "already_resolved" || isUnknown) throw alreadyAnswered();
    if (result.outcome === "errored") throw turnFailure(result, false);
    await this.#resumed(result.turn, waiting, calls);
  }

  /** Reports what has ended since the last request and what this one led to, and asks what waits for an answer. */
  async reply(): Promise<ShellReply> {
    const { harness, describeApproval } = this.#shared.options;
    const { suspended, undelivered } = await harness.pending(this.#sessionId);
    const own = this.#directives.splice(0);
    this.#recover(suspended);
    await this.#reportEarlier(undelivered);
    // Each call that was refused for the user began another part of the turn.
    this.#directives.push(...(this.#refusals > 0 && isLong(own) ? shortened(own) : own));
    const isQuestion = !this.#call.approval && !saysSomething(this.#call);
    if (isQuestion) await this.#reportWaiting(suspended);
    const question = this.#question ?? (this.#canAsk ? await this.#oldest(suspended) : undefined);
    const directives = this.#directives;
    if (question === undefined) return { directives };
    directives.push(approvalQuestion(question, describeApproval?.(question.request) ?? {}));
    return { directives, continueWith: { runId: question.invocationId, data: runDataOf(question) } };
  }

  /** Other requests may report what this one has not reported. */
  end(): void {
    const { reports } = this.#shared;
    for (const id of this.#reported) reports.end(id);
  }

  async #signal({ invocationId, signalId }: Waiting, answer: ChatApprovalAnswer): Promise<SignalOutcome> {
    const { options, reports } = this.#shared;
    this.#reported.push(invocationId);
    reports.begin(invocationId);
    const payload = toApprovalPayload(answer);
    const signal = { invocationId, signalId, sessionId: this.#sessionId, payload };
    return options.harness.signal(signal, {
      signal: resumedSignal(this.#call),
      ...streamMetadata(this.#call),
    });
  }

  /** A turn that waited has continued. */
  async #resumed(
    turn: ChatTurnOutcome,
    { invocationId, shown }: Waiting,
    calls: ReadonlyMap<string, KnownCall>,
  ): Promise<void> {
    const { options, shown: counts } = this.#shared;
    if (turn.outcome === "suspended") {
      return this.#pause(turn, shown + turn.pending_messages.length, calls);
    }
    counts.delete(invocationId);
    if (turn.outcome === "completed") {
      return this.#report(this.#show(turn.replies.slice(shown), calls), invocationId);
    }
    const { suspended } = await options.harness.pending(this.#sessionId);
    const isOver = !suspended.some(({ invocation_id: id }) => id === invocationId);
    if (isOver) await options.harness.acknowledge(invocationId);
    // If it was refused for the user, the same request would repeat what was said.
    throw turnFailure(turn, isOver || this.#refusals > 0);
  }

  /** The turn waits: asks the user, or refuses if the shell cannot ask. */
  async #pause(turn: SuspendedTurn, shown: number, calls: ReadonlyMap<string, KnownCall>): Promise<void> {
    const { pending_messages: messages, invocation_id: id, signal_descriptor: descriptor } = turn;
    this.#directives.push(...this.#show(messages, calls));
    const found = await readPause(id, descriptor, shown);
    if (found.kind === "other") {
      this.#directives.push(say(waitText));
      return;
    }
    const { pause } = found;
    const { shown: counts } = this.#shared;
    counts.delete(id);
    if (shown > 0) counts.set(id, shown);
    if (found.kind === "foreign") this.#directives.push(say(foreignText));
    else if (found.kind === "approval" && this.#canAsk) this.#question = pause;
    else await this.#refuse(pause, found.kind === "too_long" ? tooLong : lacksApproval);
  }

  async #refuse(pause: ApprovalPause, reason: string): Promise<void> {
    const { tool, input, call_id: callId, digest } = pause.request;
    if (++this.#refusals > maxRefusals) {
      const words = "This needs approvals, and this shell cannot ask for them.";
      const details = { capability: ShellCapability.Approval };
      throw new ShellEngineError(ShellErrorCode.CapabilityRequired, words, { details });
    }
    const result = await this.#signal(pause, { decision: "reject", digest, reason, unattended: true });
    // Another shell was faster: the next request reports the end.
    if (result.outcome === "already_resolved") return;
    if (result.outcome === "errored") throw turnFailure(result, true);
    await this.#resumed(result.turn, pause, new Map([[callId, { tool, input }]]));
  }

  #show(messages: readonly ChatMessage[], calls: ReadonlyMap<string, KnownCall>): ActionDirective[] {
    const { render = renderAsCard } = this.#shared.options;
    return turnDirectives(messages, calls, (result) => render(result, this.#call));
  }

  /** What no request has shown. Where `render` fails it is shown as by default, because it would fail each request to come. */
  #showEarlier(messages: readonly ChatMessage[]): ActionDirective[] {
    try {
      return this.#show(messages, noCalls);
    } catch (error) {
      callSafely(() => this.#shared.options.onError?.(error));
      return turnDirectives(messages, noCalls, (result) => renderAsCard(result, this.#call));
    }
  }

  /** Reports the end of a turn; if nothing would bring its mark to the shell, it counts as reported. */
  async #report(directives: readonly ActionDirective[], invocationId: string): Promise<void> {
    this.#directives.push(...markEnd(directives, invocationId));
    if (!carriesMark(directives)) await this.#shared.options.harness.acknowledge(invocationId);
  }

  /** Reports ends in their order, as many as have room: the next request reports the others. */
  async #reportEarlier(undelivered: readonly Delivery[]): Promise<void> {
    for (const { invocation_id: id, turn } of undelivered) {
      if (this.#shared.reports.has(id)) continue;
      const directives =
        turn.outcome === "completed" ? this.#showEarlier(turn.replies) : [say(turn.reply.content)];
      if (this.#directives.length > 0 && isLong([...this.#directives, ...directives])) return;
      await this.#report(directives, id);
    }
  }

  /** An answer was accepted, and this process does not continue it: its process has died, or the store failed afterwards. */
  #recover(suspended: readonly PendingTurn[]): void {
    const { reports } = this.#shared;
    const isLeft = suspended.some(
      ({ invocation_id: id, is_signal_accepted }) => is_signal_accepted && !reports.has(id),
    );
    if (isLeft) this.#shared.recover(this.#sessionId);
  }

  /** What waits and cannot be answered here, for a shell that asks what there is. */
  async #reportWaiting(suspended: readonly PendingTurn[]): Promise<void> {
    const texts = new Set<string>();
    for (const { invocation_id: id, signal_descriptor: descriptor, is_signal_accepted } of suspended) {
      const found = await readPause(id, descriptor, 0);
      if (is_signal_accepted && found.kind !== "other") texts.add(underWayText);
      else if (found.kind === "other") texts.add(waitText);
      else if (found.kind === "foreign") texts.add(foreignText);
    }
    this.#directives.push(...[...texts].map((text) => say(text)));
  }

  /** The oldest question that waits. */
  async #oldest(suspended: readonly PendingTurn[]): Promise<ApprovalPause | undefined> {
    for (const { invocation_id: id, signal_descriptor: descriptor, is_signal_accepted } of suspended) {
      if (is_signal_accepted) continue;
      const found = await readPause(id, descriptor, this.#shared.shown.get(id) ?? 0);
      if (found.kind === "approval") return found.pause;
    }
    return undefined;
  }
}
