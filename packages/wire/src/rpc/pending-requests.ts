import { BufferFullError, type HarnessError, RequestCancelledError, RequestTimeoutError } from "../errors.ts";
import type { Clock } from "../time/clock.ts";
import { type TimerEntry, TimerTable } from "../time/timer-table.ts";

/** A request that waits for its answer. */
class Pending implements TimerEntry {
  dueAt = Number.POSITIVE_INFINITY;
  unlisten: (() => void) | undefined;

  constructor(
    readonly requests: PendingRequests,
    readonly id: number | string,
    readonly method: string,
    readonly timeoutMs: number,
    readonly resolve: (result: unknown) => void,
    readonly reject: (error: HarnessError) => void,
  ) {}

  expired(): void {
    this.requests.giveUp(this.id, new RequestTimeoutError(this.method, this.timeoutMs));
  }
}

const toStringId = (number: number): string => `req-${String(number).padStart(7, "0")}`;

/** The number of an id; 0 for an id of another form. */
const toNumber = (id: unknown): number => {
  if (typeof id === "number") return id;
  return typeof id === "string" && /^req-\d{7,16}$/.test(id) ? Number(id.slice(4)) : 0;
};

export interface PendingOptions {
  readonly clock: Clock;
  readonly maxPendingRequests: number;
  readonly stringIds: boolean;
  /** Called when a request is given up on this side, so that the other side can be notified. */
  readonly onGivenUp: (id: number | string) => void;
}

/** The requests that wait for their answers, each until its deadline. One timer serves them all. */
export class PendingRequests {
  readonly #pending = new Map<number | string, Pending>();
  readonly #deadlines: TimerTable;
  #lastId = 0;
  #closed: HarnessError | undefined;

  constructor(readonly options: PendingOptions) {
    this.#deadlines = new TimerTable(options.clock);
  }

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
    if (this.#pending.size >= maxPendingRequests) {
      throw new BufferFullError("maxPendingRequests", maxPendingRequests);
    }
    if (signal?.aborted) throw new RequestCancelledError(method, { cause: signal.reason });
    const number = ++this.#lastId;
    const id = stringIds ? toStringId(number) : number;
    const answer = new Promise<unknown>((resolve, reject) => {
      const pending = new Pending(this, id, method, timeoutMs, resolve, reject);
      this.#pending.set(id, pending);
      if (signal) pending.unlisten = this.#listen(id, method, signal);
      if (timeoutMs !== Number.POSITIVE_INFINITY) {
        this.#deadlines.set(pending, this.options.clock.now() + timeoutMs);
      }
    });
    return { id, answer };
  }

  /** Settles the request with its result. False when none waits under this id: late, duplicate or made up. */
  resolve(id: unknown, result: unknown): boolean {
    const pending = this.#take(id);
    pending?.resolve(result);
    return pending !== undefined;
  }

  /** Settles the request with an error. False when none waits under this id. */
  fail(id: unknown, error: HarnessError): boolean {
    const pending = this.#take(id);
    pending?.reject(error);
    return pending !== undefined;
  }

  /** Settles the one request that waits. False where none waits, or more than one. */
  failOnly(error: HarnessError): boolean {
    const [id] = this.#pending.keys();
    return this.#pending.size === 1 && this.fail(id, error);
  }

  /** Says what is wrong with the id of an answer that belongs to no request. */
  describeUnknownId(id: unknown): string {
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
    this.#deadlines.close();
  }

  /** Settles a request that is given up on this side, and reports that. */
  giveUp(id: number | string, error: HarnessError): void {
    if (this.fail(id, error)) this.options.onGivenUp(id);
  }

  #take(id: unknown): Pending | undefined {
    const pending = this.#pending.get(id as number | string);
    if (!pending) return undefined;
    this.#pending.delete(id as number | string);
    this.#deadlines.clear(pending);
    pending.unlisten?.();
    return pending;
  }

  #listen(id: number | string, method: string, signal: AbortSignal): () => void {
    const onAbort = () => this.giveUp(id, new RequestCancelledError(method, { cause: signal.reason }));
    signal.addEventListener("abort", onAbort, { once: true });
    return () => signal.removeEventListener("abort", onAbort);
  }
}
