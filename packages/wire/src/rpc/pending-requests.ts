import type { Channel } from "../channel.ts";
import { displayText } from "../display.ts";
import {
  type HarnessError,
  InvalidMessageError,
  RequestCancelledError,
  RequestTimeoutError,
} from "../errors.ts";
import { sharedSignal } from "../shared-signal.ts";
import type { Clock } from "../time/clock.ts";
import { Deadlines } from "../time/deadline.ts";
import { messageKind, type ResponseMessage, readableId } from "./message.ts";
import { checkTimeout, type RequestOptions } from "./peer-options.ts";
import { toReceivedError } from "./rpc-errors.ts";

/** A request that waits for its answer. */
interface Pending {
  readonly id: number | string;
  readonly method: string;
  readonly timeoutMs: number;
  readonly dueMs: number;
  /** The faults before it was sent. */
  readonly faults: number;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly unlisten: (() => void) | undefined;
  readonly onFailed: ((error: unknown) => void) | undefined;
}

const toStringId = (number: number): string => `req-${String(number).padStart(7, "0")}`;

/** The requests that wait for their answers, each until its deadline. */
export class PendingRequests {
  readonly #pending = new Map<number | string, Pending>();
  readonly #deadlines: Deadlines<Pending>;
  readonly #answersOnly: boolean;
  #lastId = 0;
  #faults = 0;
  #closed: HarnessError | undefined;
  #lastSent: Promise<void> | undefined;
  /** What was wrong with the last message that arrived and is of no use. */
  #lastFault: HarnessError | undefined;

  /** `answersOnly`: as an option of a peer. */
  constructor({
    clock,
    answersOnly = false,
  }: { readonly clock: Clock; readonly answersOnly?: boolean | undefined }) {
    this.#answersOnly = answersOnly;
    this.#deadlines = new Deadlines({
      clock,
      entries: () => this.#pending.values(),
      expired: (pending) => this.#giveUp(pending, new RequestTimeoutError(pending.method, pending.timeoutMs)),
    });
  }

  /** Something arrived that is of no use. What came late, or was cut off by the end, is not a fault of the other side. */
  fault(error: HarnessError): void {
    const reason = "reason" in error ? error.reason : undefined;
    if (reason === "late_answer" || reason === "incomplete") return;
    this.#faults++;
    this.#lastFault = error;
  }

  /**
   * Takes a place and gives the id to send and the promise of the answer. `onFailed` is called when that rejects. Throws
   * `request_cancelled`, or what it was closed with.
   */
  add(
    method: string,
    timeoutMs: number,
    signal: AbortSignal | undefined,
    onFailed?: (error: unknown) => void,
  ): { id: number | string; answer: Promise<unknown> } {
    if (this.#closed) throw this.#closed;
    if (signal?.aborted) throw new RequestCancelledError(method, { cause: signal.reason });
    const number = ++this.#lastId;
    const id = this.#answersOnly ? toStringId(number) : number;
    const answer = new Promise<unknown>((resolve, reject) => {
      this.#pending.set(id, {
        id,
        method,
        timeoutMs,
        dueMs: this.#deadlines.dueAfter(timeoutMs),
        faults: this.#faults,
        resolve,
        reject,
        unlisten: signal && this.#listen(id, method, signal),
        onFailed,
      });
    });
    return { id, answer };
  }

  /** Sends a request over a channel. Settles as its answer does, and rejects as `add` throws and as the channel refuses. */
  request(
    channel: Pick<Channel, "send">,
    method: string,
    params: unknown,
    { timeoutMs = Number.POSITIVE_INFINITY, signal }: RequestOptions,
  ): Promise<unknown> {
    try {
      const { id, answer } = this.add(method, checkTimeout(timeoutMs), signal);
      const sent = channel.send(
        params === undefined ? { jsonrpc: "2.0", id, method } : { jsonrpc: "2.0", id, method, params },
      );
      // Requests that leave together share a promise; when it rejects the channel closes, which settles the others.
      if (sent !== this.#lastSent) sent.catch((error: HarnessError) => this.fail(id, error));
      this.#lastSent = sent;
      return answer;
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Settles the request with its result. False when none waits under this id: late, duplicate or made up. */
  resolve(id: unknown, result: unknown): boolean {
    const pending = this.#take(id);
    pending?.resolve(result);
    return pending !== undefined;
  }

  /** Settles the request with an error. False when none waits under this id. */
  fail(id: unknown, error: unknown): boolean {
    const pending = this.#take(id);
    pending?.reject(error);
    pending?.onFailed?.(error);
    return pending !== undefined;
  }

  /** Settles the request that a message answers. Returns what is wrong with a message that answers none. */
  settle(message: unknown): InvalidMessageError | undefined {
    if (messageKind(message) !== "response") {
      const problem = new InvalidMessageError("not_json_rpc", "an answer is not a JSON-RPC 2.0 response");
      return this.fail(readableId(message), problem) ? undefined : problem;
    }
    const { id, result, error } = message as ResponseMessage;
    const isAbout = this.#answersOnly && error && !id && this.#pending.size === 1;
    const about = isAbout ? this.#pending.keys().next().value : id;
    if (error ? this.fail(about, toReceivedError(error)) : this.resolve(id, result)) return undefined;
    const what = error ? `an error answer (${error.code})` : "an answer";
    return this.#wasSent(id)
      ? new InvalidMessageError("late_answer", `${what} came late or twice`)
      : new InvalidMessageError(
          "not_json_rpc",
          `${what} came to no request: ${JSON.stringify(id).slice(0, 64)}`,
        );
  }

  #wasSent(id: unknown): boolean {
    const number = this.#answersOnly ? Number(/^req-(\d{7,16})$/.exec(String(id))?.[1]) : id;
    return Number.isInteger(number) && Number(number) >= 1 && Number(number) <= this.#lastId;
  }

  /** Settles everything that waits, and takes nothing more: no answer can come any longer. */
  close(error: HarnessError): void {
    this.#closed = error;
    this.#deadlines.stop();
    for (const pending of [...this.#pending.values()]) this.#giveUp(pending, error);
  }

  #giveUp({ id, faults }: Pending, error: HarnessError): void {
    if (!this.#answersOnly || faults === this.#faults) this.fail(id, error);
    else {
      const fault = displayText(this.#lastFault?.message ?? "", { maxLength: 300 });
      const text = `what the other side sent does not answer the call (${fault}): ${error.message}`;
      this.fail(id, new InvalidMessageError("not_json_rpc", text, { cause: error }));
    }
  }

  #take(id: unknown): Pending | undefined {
    const pending = this.#pending.get(id as number | string);
    if (!pending) return undefined;
    this.#pending.delete(id as number | string);
    pending.unlisten?.();
    return pending;
  }

  #listen(id: number | string, method: string, signal: AbortSignal): () => void {
    const onAbort = () => this.fail(id, new RequestCancelledError(method, { cause: signal.reason }));
    sharedSignal(signal).addEventListener("abort", onAbort, { once: true });
    return () => signal.removeEventListener("abort", onAbort);
  }
}
