import { type LeaseProof, type LeaseTable, StoreError } from "@harnesskit/graph";
import { isGone, type ProcessIdentity, thisProcess } from "@harnesskit/node-kit";
import { numberIn, readJson, type SqlValue, toKey } from "./sql-values.ts";
import type { StoreFile } from "./store-file.ts";

const findLease = "SELECT fence, expires_at, owner FROM leases WHERE key = ?";

/** Whether the process that took a lease has died, beyond doubt: one of another machine, boot or container has not. */
const hasDied = (owner: SqlValue | undefined): boolean => {
  if (typeof owner !== "string") return false;
  const process = readJson(owner) as unknown as ProcessIdentity;
  return process.world !== undefined && isGone(process);
};

/** The leases of a file. One lasts until it expires, or until its process has died. */
export class SqliteLeaseTable implements LeaseTable {
  readonly #file: StoreFile;
  readonly #owner = JSON.stringify(thisProcess());

  constructor(file: StoreFile) {
    this.#file = file;
  }

  /** For how long a key is held yet, by the wall clock, which all processes share. */
  #heldForMs(key: string): number | undefined {
    const row = this.#file.get(findLease, toKey(key));
    const expiresAtMs = row === undefined || hasDied(row[2]) ? 0 : numberIn(row[1]);
    const heldForMs = expiresAtMs - this.#file.clock.now();
    return heldForMs > 0 ? heldForMs : undefined;
  }

  async take(key: string, ttlMs: number) {
    const seenForMs = await this.#file.readOne(() => this.#heldForMs(key));
    if (seenForMs !== undefined) return { heldForMs: seenForMs };
    return this.#file.write(() => {
      const heldForMs = this.#heldForMs(key);
      if (heldForMs !== undefined) return { heldForMs };
      const fence = this.#file.nextNumber();
      this.#file.run(
        `INSERT INTO leases (key, fence, expires_at, owner) VALUES (?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET fence = excluded.fence, expires_at = excluded.expires_at, owner = excluded.owner`,
        ...[toKey(key), fence, this.#file.clock.now() + ttlMs, this.#owner],
      );
      return { fence };
    }, false);
  }

  /** Throws `lease_lost` unless the lease is held; within a transaction. */
  check({ key, fence }: LeaseProof): void {
    const row = this.#file.get(findLease, toKey(key));
    if (row !== undefined && row[0] === fence && numberIn(row[1]) > this.#file.clock.now()) return;
    throw new StoreError("lease_lost", `the lease of ${key} is not held any more`);
  }

  renew(proof: LeaseProof, ttlMs: number): Promise<void> {
    return this.#file.write(() => {
      this.check(proof);
      const update = "UPDATE leases SET expires_at = ? WHERE key = ? AND fence = ?";
      this.#file.run(update, this.#file.clock.now() + ttlMs, toKey(proof.key), proof.fence);
    }, false);
  }

  release(proof: LeaseProof): Promise<void> {
    return this.#file.write(() => this.releaseNow(proof), false);
  }

  /** The same within a transaction. */
  releaseNow({ key, fence }: LeaseProof): void {
    this.#file.run("DELETE FROM leases WHERE key = ? AND fence = ?", toKey(key), fence);
  }

  /** Removes the leases of processes that have died. */
  deleteExpired(): Promise<number> {
    const expired = "DELETE FROM leases WHERE expires_at <= ?";
    return this.#file.write(() => this.#file.run(expired, this.#file.clock.now()), false);
  }
}
