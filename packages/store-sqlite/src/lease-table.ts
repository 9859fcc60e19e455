import { type LeaseProof, StoreError } from "@harnesskit/graph";
import { numberIn } from "./numbers.ts";
import type { Statement } from "./statement.ts";
import type { StoreFile } from "./store-file.ts";
import { toKey } from "./text-key.ts";

/** Where a key was free, the fence of who has it now; else the time at which it may be free. */
export type TakeResult =
  | { readonly fence: number; readonly expiresAt?: never }
  | { readonly fence?: never; readonly expiresAt: number };

/** The leases of a file. Its methods belong into a transaction. Times are milliseconds since the epoch. */
export class LeaseTable {
  readonly #nextNumber: () => number;
  readonly #find: Statement;
  readonly #put: Statement;
  readonly #renew: Statement;
  readonly #release: Statement;
  readonly #forget: Statement;

  constructor(file: StoreFile, nextNumber: () => number) {
    this.#nextNumber = nextNumber;
    this.#find = file.prepare("SELECT fence, expires_at FROM leases WHERE key = ?");
    this.#put = file.prepare(
      `INSERT INTO leases (key, fence, expires_at) VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET fence = excluded.fence, expires_at = excluded.expires_at`,
    );
    this.#renew = file.prepare(
      "UPDATE leases SET expires_at = ? WHERE key = ? AND fence = ? AND expires_at > ?",
    );
    this.#release = file.prepare("DELETE FROM leases WHERE key = ? AND fence = ?");
    this.#forget = file.prepare("DELETE FROM leases WHERE expires_at <= ?");
  }

  /** Until when somebody holds a key, as far as is known; undefined where it is free. */
  heldUntil(key: string, now: number): number | undefined {
    const row = this.#find.get(toKey(key));
    const expiresAt = row === undefined ? 0 : numberIn(row[1]);
    return expiresAt > now ? expiresAt : undefined;
  }

  /** Takes a key unless somebody holds it. */
  take(key: string, ttlMs: number, now: number): TakeResult {
    const expiresAt = this.heldUntil(key, now);
    if (expiresAt !== undefined) return { expiresAt };
    const fence = this.#nextNumber();
    this.#put.run(toKey(key), fence, now + ttlMs);
    return { fence };
  }

  /** Throws `lease_lost` unless it is held now. */
  demand({ key, fence }: LeaseProof, now: number): void {
    const row = this.#find.get(toKey(key));
    if (row === undefined || row[0] !== fence || numberIn(row[1]) <= now) throw leaseLost(key);
  }

  /** Throws `lease_lost` unless it is held now. */
  renew({ key, fence }: LeaseProof, ttlMs: number, now: number): void {
    if (this.#renew.run(now + ttlMs, toKey(key), fence, now) === 0) throw leaseLost(key);
  }

  release({ key, fence }: LeaseProof): void {
    this.#release.run(toKey(key), fence);
  }

  /** Removes what those have left who died. */
  forgetExpired(now: number): void {
    this.#forget.run(now);
  }
}

const leaseLost = (key: string) => new StoreError("lease_lost", `the lease of ${key} is held no more`);
