import type { ErrorObject, JsonValue } from "@harnesskit/protocol/envelope";
import type { Clock } from "../clock.ts";
import { BufferFullError, type HarnessError, RequestCancelledError, RequestTimeoutError } from "../errors.ts";
import { ProtocolError } from "../protocol-error.ts";

/** The part of a pending request that its answer, its deadline and its caller need. */
interface Pending {
  readonly method: string;
  resolve: (result: unknown) => void;
  reject: (error: HarnessError) => void;
  readonly deadline: number;
  readonly timeoutMs: number;
  readonly unlisten: (() => void) | undefined;
}

const nothing = () => {};

/**
 * Ids that are texts have more than ten characters: V8 keeps a shorter text of a message that it parses in a table of all
 * texts, at several times the cost of the rest of an answer.
 */
const toTextId = (number: number): string => `req-${String(number).padStart(7, "0")}`;

/** The number of an id; 0 for what is none. */
const toNumber = (id: unknown): number => {
  if (typeof id === "number") return id;
  return typeof id === "string" && /^req-\d{7,16}$/.test(id) ? Number(id.slice(4)) : 0;
};

/**
 * A map that entries come to and leave all the time is moved to a new table again and again, and each old table keeps what
 * it held alive until the next full collection of garbage: so what is settled holds on to nothing.
 */
const forget = (pending: Pending): void => {
  pending.resolve = nothing;
  pending.reject = nothing;
};

export interface PendingOptions {
  readonly clock: Clock;
  readonly maxPendingRequests: number;
  readonly stringIds: boolean;
  /** Called when a request is given up on this side, so that the other side may be told. */
  readonly onGivenUp: (id: number | string) => void;
}

/** The requests that wait for their answers, each until its deadline. One timer serves them all. */
export class PendingRequests {
  readonly #pending = new Map<number | string, Pending>();
  #lastId = 0;
  #timerAt = Number.POSITIVE_INFINITY;
  #cancelTimer: (() => void) | undefined;
  #closed: HarnessError | undefined;

  constructor(readonly options: PendingOptions) {}

  get size(): number {
    return this.#pending.size;
  }

  /**
   * Takes a place and gives the id to send and the promise of the answer. Throws `buffer_full`, `request_cancelled`,
   * or what it was closed with.
   */
  add(
    method: string,
    timeoutMs: number,
    signal: AbortSignal | undefined,
  ): { id: number | string; answer: Promise<unknown> } {
    if (this.#closed) throw this.#closed;
    const { maxPendingRequests, stringIds } = this.options;
    if (this.#pending.size >= maxPendingRequests)
      throw new BufferFullError("maxPendingRequests", maxPendingRequests);
    if (signal?.aborted) throw new RequestCancelledError(method, { cause: signal.reason });
    const number = ++this.#lastId;
    const id = stringIds ? toTextId(number) : number;
    const deadline =
      timeoutMs === Number.POSITIVE_INFINITY ? timeoutMs : this.options.clock.now() + timeoutMs;
    const answer = new Promise<unknown>((resolve, reject) => {
      const unlisten = signal && this.#listen(id, method, signal);
      this.#pending.set(id, { method, resolve, reject, deadline, timeoutMs, unlisten });
    });
    if (deadline < this.#timerAt) this.#armTimer(deadline);
    return { id, answer };
  }

  /** Settles the request with its result. False when none waits under this id: late, duplicate or made up. */
  resolve(id: unknown, result: JsonValue): boolean {
    const pending = this.#take(id);
    if (!pending) return false;
    const { resolve } = pending;
    forget(pending);
    resolve(result);
    return true;
  }

  /** Settles the request with the other side's error. False when none waits under this id. */
  reject(id: unknown, error: ErrorObject): boolean {
    const { code, message, data } = error;
    return this.fail(id, new ProtocolError(code, message, data === undefined ? {} : { data }));
  }

  /** Settles the request with a local error. */
  fail(id: unknown, error: HarnessError): boolean {
    const pending = this.#take(id);
    if (!pending) return false;
    const { reject } = pending;
    forget(pending);
    reject(error);
    return true;
  }

  /** Settles the one request that waits. False where none waits, or more than one. */
  failOnly(error: HarnessError): boolean {
    const [id] = this.#pending.keys();
    return this.#pending.size === 1 && this.fail(id, error);
  }

  /** What is wrong with the id of an answer that belongs to no request. */
  strangerText(id: unknown): string {
    const expected = this.options.stringIds ? "string" : "number";
    const shown = JSON.stringify(id).slice(0, 64);
    if (id === null || typeof id === expected) return `came to no request: no request has the id ${shown}`;
    return `has the ${typeof id} ${shown} as its id, and the ids of requests are ${expected}s here`;
  }

  /** Whether a request had this id that waits no more. */
  wasSent(id: unknown): boolean {
    if (typeof id !== (this.options.stringIds ? "string" : "number")) return false;
    const number = toNumber(id);
    return Number.isInteger(number) && number >= 1 && number <= this.#lastId;
  }

  /** Settles everything that waits, and takes nothing more: no answer can come any longer. */
  close(error: HarnessError): void {
    this.#closed = error;
    for (const id of [...this.#pending.keys()]) this.fail(id, error);
    this.#cancelTimer?.();
    this.#timerAt = Number.POSITIVE_INFINITY;
  }

  #take(id: unknown): Pending | undefined {
    const pending = this.#pending.get(id as number | string);
    if (!pending) return undefined;
    this.#pending.delete(id as number | string);
    pending.unlisten?.();
    return pending;
  }

  #listen(id: number | string, method: string, signal: AbortSignal): () => void {
    const onAbort = () => {
      if (this.fail(id, new RequestCancelledError(method, { cause: signal.reason })))
        this.options.onGivenUp(id);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    return () => signal.removeEventListener("abort", onAbort);
  }

  #armTimer(at: number): void {
    this.#cancelTimer?.();
    this.#timerAt = at;
    this.#cancelTimer = this.options.clock.after(Math.max(0, at - this.options.clock.now()), () =>
      this.#expire(),
    );
  }

  /** Fails what is past its deadline and waits for the next one. Runs once per deadline at most, not per request. */
  #expire(): void {
    const now = this.options.clock.now();
    this.#timerAt = Number.POSITIVE_INFINITY;
    let next = Number.POSITIVE_INFINITY;
    const expired: (number | string)[] = [];
    for (const [id, { deadline }] of this.#pending) {
      if (deadline <= now) expired.push(id);
      else if (deadline < next) next = deadline;
    }
    if (next !== Number.POSITIVE_INFINITY) this.#armTimer(next);
    for (const id of expired) {
      const pending = this.#pending.get(id);
      if (pending) this.fail(id, new RequestTimeoutError(pending.method, pending.timeoutMs));
      this.options.onGivenUp(id);
    }
  }
}
