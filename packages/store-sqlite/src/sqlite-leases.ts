import { type Lease, type LeaseOptions, type LeaseStore, StoreError } from "@harnesskit/graph";
import { type Clock, InvalidArgumentError } from "@harnesskit/wire";
import type { LeaseTable } from "./lease-table.ts";
import { LeaseWaiter } from "./lease-waiter.ts";
import { SqliteStoreError } from "./sqlite-store-error.ts";
import type { StoreFile } from "./store-file.ts";

export interface SqliteLeasesOptions {
  readonly clock: Clock;
  readonly leasePollMs: number;
  readonly maxLeaseWaiters: number;
}

/** Those of this process who want a key, in the order in which they came. The first of them asks for it. */
interface Line {
  readonly waiters: LeaseWaiter[];
  isAsking: boolean;
  stopTimer: () => void;
}

/** A lease that this store has given out. */
interface Holding {
  readonly fence: number;
  expiresAt: number;
}

/** Leases in a file: in the order of those who wait in this process, and by asking again for what another one holds. */
export class SqliteLeases implements LeaseStore {
  readonly #file: StoreFile;
  readonly #table: LeaseTable;
  readonly #options: SqliteLeasesOptions;
  readonly #lines = new Map<string, Line>();
  readonly #held = new Map<string, Holding>();
  #waiting = 0;

  constructor(file: StoreFile, table: LeaseTable, options: SqliteLeasesOptions) {
    this.#file = file;
    this.#table = table;
    this.#options = options;
  }

  async acquire(key: string, { ttlMs, waitMs = 0, signal }: LeaseOptions): Promise<Lease> {
    this.#file.demandOpen();
    if (typeof key !== "string" || key === "") throw new InvalidArgumentError("a lease needs a key");
    if (!(ttlMs >= 1) || !(waitMs >= 0)) throw new InvalidArgumentError("ttlMs or waitMs is no duration");
    const { clock, maxLeaseWaiters } = this.#options;
    const isPatient = waitMs > 0 && signal?.aborted !== true;
    const line = this.#lines.get(key) ?? { waiters: [], isAsking: false, stopTimer: () => {} };
    if (line.waiters.length > 0 && !isPatient) throw new StoreError("lease_taken", `${key} is in use`);
    if (this.#waiting >= maxLeaseWaiters) {
      throw new SqliteStoreError("too_many_waiters", `maxLeaseWaiters of ${maxLeaseWaiters} is reached`);
    }
    const waiter = new LeaseWaiter({ key, ttlMs, waitMs, isPatient, signal, clock }, () => {
      this.#waiting--;
      this.#leave(key, line, waiter);
    });
    this.#waiting++;
    line.waiters.push(waiter);
    this.#lines.set(key, line);
    if (line.waiters.length === 1) void this.#ask(key, line);
    return waiter.lease;
  }

  #leave(key: string, line: Line, waiter: LeaseWaiter): void {
    const place = line.waiters.indexOf(waiter);
    if (place >= 0) line.waiters.splice(place, 1);
    if (line.waiters.length > 0) return;
    line.stopTimer();
    if (this.#lines.get(key) === line) this.#lines.delete(key);
  }

  /** Asks for a key for whoever is first, until somebody else has it or nobody wants it. Never rejects. */
  async #ask(key: string, line: Line): Promise<void> {
    if (line.isAsking) return;
    line.isAsking = true;
    line.stopTimer();
    let mayBeFreeAt = 0;
    for (let first = line.waiters[0]; first !== undefined; first = line.waiters[0]) {
      try {
        const result = await this.#take(key, first.ttlMs);
        if (typeof result !== "number") {
          await this.#give(first, result);
          break;
        }
        mayBeFreeAt = result;
        if (first.isPatient) break;
        first.refuse();
      } catch (error) {
        first.fail(error);
      }
    }
    line.isAsking = false;
    if (line.waiters.length > 0) this.#askLater(key, line, mayBeFreeAt);
  }

  /** The lease, or the time at which the key may be free. */
  async #take(key: string, ttlMs: number): Promise<Lease | number> {
    const { clock } = this.#options;
    const heldUntil = await this.#file.readOne(() => this.#table.heldUntil(key, clock.now()));
    if (heldUntil !== undefined) return heldUntil;
    const result = await this.#file.write(() => this.#table.take(key, ttlMs, clock.now()), false);
    return result.fence === undefined ? result.expiresAt : this.#lease(key, result.fence, ttlMs);
  }

  async #give(waiter: LeaseWaiter, lease: Lease): Promise<void> {
    // Who gave up meanwhile has been answered already.
    if (!waiter.give(lease)) await lease.release().catch(() => {});
  }

  #askLater(key: string, line: Line, mayBeFreeAt: number): void {
    const { clock, leasePollMs } = this.#options;
    const now = clock.now();
    const own = this.#held.get(key)?.expiresAt ?? 0;
    // What this store has given out it gives on itself when it comes back.
    const delayMs = own > now ? own - now : Math.min(leasePollMs, mayBeFreeAt - now);
    line.stopTimer = clock.after(Math.max(1, delayMs), () => void this.#ask(key, line), true);
  }

  #lease(key: string, fence: number, ttlMs: number): Lease {
    const { clock } = this.#options;
    const holding: Holding = { fence, expiresAt: clock.now() + ttlMs };
    const proof = { key, fence };
    let isReleased = false;
    this.#held.set(key, holding);
    const forget = () => {
      if (this.#held.get(key) === holding) this.#held.delete(key);
    };
    return {
      ...proof,
      renew: async () => {
        await this.#file.write(() => this.#table.renew(proof, ttlMs, clock.now()), false);
        holding.expiresAt = clock.now() + ttlMs;
      },
      release: async () => {
        if (isReleased || this.#file.isClosed) return;
        isReleased = true;
        forget();
        await this.#file.write(() => this.#table.release(proof), false);
        const line = this.#lines.get(key);
        if (line !== undefined) await this.#ask(key, line);
      },
    };
  }

  /** Ends all waiting with `store_closed`. */
  close(): void {
    for (const { waiters, stopTimer } of [...this.#lines.values()]) {
      stopTimer();
      for (const waiter of [...waiters]) waiter.fail(new StoreError("store_closed", "the store is closed"));
    }
    this.#lines.clear();
  }

  /** Gives back whatever is held; within a write. */
  releaseAll(): void {
    for (const [key, { fence }] of this.#held) this.#table.release({ key, fence });
    this.#held.clear();
  }
}
