import { randomUUID } from "node:crypto";

const prefixLength = 24;
const maxCount = 2 ** 48 - 1;

/**
 * UUIDs by counting: the first 24 characters are random and belong to this counter alone, the last 12 count up. One
 * costs a tenth of a random one, and its counter can be told from it.
 */
export class UuidCounter {
  readonly prefix = randomUUID().slice(0, prefixLength);
  #count = 0;

  next(): string {
    return this.prefix + (++this.#count).toString(16).padStart(12, "0");
  }

  /** Whether this counter has given this id out. */
  hasIssued(id: string): boolean {
    if (!id.startsWith(this.prefix) || !/^[0-9a-f]{12}$/.test(id.slice(prefixLength))) return false;
    const count = Number.parseInt(id.slice(prefixLength), 16);
    return count >= 1 && count <= Math.min(this.#count, maxCount);
  }
}
