import type { JsonObject } from "@harnesskit/protocol/envelope";
import type { Clock } from "@harnesskit/wire";
import type { ActionJudge } from "../proxy/action-judge.ts";
import { idKey } from "../proxy/rpc-message.ts";
import type { ActionOutcome, ProxiedAction } from "../proxy/rulings.ts";
import { type ContinuedCall, ContinuedCalls } from "./continued-calls.ts";
import type { ToolCall } from "./tool-call.ts";

/** A call that is judged, or runs at the server. */
export interface OpenCall {
  readonly call: ToolCall;
  readonly abort: AbortController;
  /** A call that goes on after a question began with its first leg. */
  startedMs: number;
  /** Set when it was sent to the server. */
  sent?: { readonly action: ProxiedAction; readonly args: JsonObject };
}

/** The calls of a client that have no answer yet, and the report of what came of each. */
export class OpenCalls {
  readonly #calls = new Map<string, OpenCall>();
  readonly #continued: ContinuedCalls;
  readonly #judge: ActionJudge;
  readonly #clock: Clock;

  constructor(judge: ActionJudge, clock: Clock) {
    this.#judge = judge;
    this.#clock = clock;
    this.#continued = new ContinuedCalls((call) => {
      // A question of our own leaves its approval waiting: the same call finds it later.
      if (call.decided)
        this.report(call, { outcome: "unknown", error: "it was not continued after a question" });
    });
  }

  get size(): number {
    return this.#calls.size;
  }

  /** The open call with an id, of whatever type that is. */
  get(id: unknown): OpenCall | undefined {
    return this.#calls.get(idKey(id));
  }

  add(call: ToolCall): OpenCall {
    const open = { call, abort: new AbortController(), startedMs: this.#clock.elapsedMs() };
    this.#calls.set(idKey(call.id), open);
    return open;
  }

  /** It was answered without the server. */
  delete({ call }: OpenCall): void {
    this.#calls.delete(idKey(call.id));
  }

  /** The call that this one continues; its time began with that. */
  continuedBy(open: OpenCall): ContinuedCall | undefined {
    const continued = this.#continued.take(open.call);
    if (continued) open.startedMs = continued.startedMs;
    return continued;
  }

  /** A leg that ended with a question: its action stays open. False for any other result. */
  endLeg(open: OpenCall, result: JsonObject, more: Pick<ContinuedCall, "action" | "decided">): boolean {
    const isLeg = this.#continued.note(open.call, result, { ...more, startedMs: open.startedMs });
    if (isLeg) this.delete(open);
    return isLeg;
  }

  /** Reports the outcome of a call that was sent. False if that was done before. */
  settle(open: OpenCall, outcome: ActionOutcome): boolean {
    const { sent, call, startedMs } = open;
    if (!this.#calls.delete(idKey(call.id)) || sent === undefined) return false;
    const { action, args } = sent;
    const modified = args !== call.arguments && { modified_arguments: args };
    this.report({ action: { ...action, details: { ...action.details, ...modified } }, startedMs }, outcome);
    return true;
  }

  report({ action, startedMs }: Pick<ContinuedCall, "action" | "startedMs">, outcome: ActionOutcome): void {
    this.#judge.report(action, outcome, this.#clock.elapsedMs() - startedMs);
  }

  /** Ends all of them: each that was sent counts as unknown. Returns those. */
  abort(error: string): readonly OpenCall[] {
    return [...this.#calls.values()].filter((open) => {
      open.abort.abort();
      return this.settle(open, { outcome: "unknown", error });
    });
  }

  /** No call is continued any more. */
  close(): void {
    for (const { abort } of this.#calls.values()) abort.abort();
    this.#continued.close();
  }
}
