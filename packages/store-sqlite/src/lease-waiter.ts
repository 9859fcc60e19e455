import { type Lease, StoreError } from "@harnesskit/graph";
import { type Clock, createDeferred } from "@harnesskit/wire";

export interface LeaseWaiterOptions {
  readonly key: string;
  readonly ttlMs: number;
  readonly waitMs: number;
  /** False: it wants the key now or not at all. */
  readonly isPatient: boolean;
  readonly signal: AbortSignal | undefined;
  readonly clock: Clock;
}

/** Somebody who wants a lease. It is answered once: with the lease, a refusal or an error. */
export class LeaseWaiter {
  readonly ttlMs: number;
  readonly isPatient: boolean;
  readonly lease: Promise<Lease>;
  readonly #answer = createDeferred<Lease>();
  readonly #end: () => void;
  readonly #key: string;
  #hasEnded = false;

  /** `onEnd` is called once, before the answer is known to anybody. */
  constructor({ key, ttlMs, waitMs, isPatient, signal, clock }: LeaseWaiterOptions, onEnd: () => void) {
    this.ttlMs = ttlMs;
    this.isPatient = isPatient;
    this.lease = this.#answer.promise;
    this.#key = key;
    const giveUp = () => this.refuse();
    const stopTimer = isPatient ? clock.after(waitMs, giveUp, true) : () => {};
    if (isPatient) signal?.addEventListener("abort", giveUp, { once: true });
    this.#end = () => {
      stopTimer();
      signal?.removeEventListener("abort", giveUp);
      onEnd();
    };
  }

  #finish(): boolean {
    if (this.#hasEnded) return false;
    this.#hasEnded = true;
    this.#end();
    return true;
  }

  /** False where it was answered already. */
  give(lease: Lease): boolean {
    if (!this.#finish()) return false;
    this.#answer.resolve(lease);
    return true;
  }

  /** Somebody else has the key. */
  refuse(): void {
    this.fail(new StoreError("lease_taken", `${this.#key} is in use`));
  }

  fail(error: unknown): void {
    if (this.#finish()) this.#answer.reject(error);
  }
}
