import { type JsonValue, jsonLength } from "@harnesskit/protocol/envelope";

interface Run {
  readonly id: string;
  readonly owner: Owner;
  readonly data: JsonValue;
  readonly expiresAtMs: number;
  readonly length: number;
}

/** The runs of one user that wait. */
interface Owner {
  readonly name: string;
  readonly runs: Map<string, Run>;
  length: number;
}

export interface RunDataLimits {
  readonly maxRuns: number;
  readonly maxRunDataLength: number;
}

/**
 * What runs left for their continuations, bounded in number and size. When there is no room, data that were taken go first, and
 * then the oldest of whoever has most: nobody can begin so many runs that those of others are lost.
 */
export class RunData {
  readonly #runs = new Map<string, Run>();
  readonly #taken = new Map<string, Run>();
  readonly #owners = new Map<string, Owner>();
  readonly #limits: RunDataLimits;
  #length = 0;

  constructor(limits: RunDataLimits) {
    this.#limits = limits;
  }

  keep(id: string, data: JsonValue, expiresAtMs: number, ownerName: string, now: number): void {
    const owner = this.#owners.get(ownerName) ?? { name: ownerName, runs: new Map<string, Run>(), length: 0 };
    const run: Run = { id, owner, data, expiresAtMs, length: jsonLength(data) };
    this.#runs.set(id, run);
    this.#length += run.length;
    this.#wait(run);
    for (const oldest of this.#runs.values()) {
      if (oldest.expiresAtMs > now) break;
      this.#drop(oldest);
    }
    while (this.#isFull) {
      const [next] = this.#taken.size > 0 ? this.#taken.values() : (this.#heaviest?.runs.values() ?? []);
      if (!next) return;
      this.#drop(next);
    }
  }

  /** Gives a run's data. They are kept, as long as there is room, until it is known that nobody needs them again. */
  take(id: string): JsonValue | undefined {
    const run = this.#runs.get(id);
    if (!run) return undefined;
    this.#leave(run);
    this.#taken.set(id, run);
    return run.data;
  }

  /** The run waits again. */
  putBack(id: string): void {
    const run = this.#taken.get(id);
    if (!run) return;
    this.#taken.delete(id);
    this.#wait(run);
  }

  drop(id: string): void {
    const run = this.#runs.get(id);
    if (run) this.#drop(run);
  }

  get #isFull(): boolean {
    return this.#runs.size > this.#limits.maxRuns || this.#length > this.#limits.maxRunDataLength;
  }

  get #heaviest(): Owner | undefined {
    const { maxRuns, maxRunDataLength } = this.#limits;
    let heaviest: Owner | undefined;
    let most = 0;
    for (const owner of this.#owners.values()) {
      const share = owner.runs.size / maxRuns + owner.length / maxRunDataLength;
      if (share > most) [heaviest, most] = [owner, share];
    }
    return heaviest;
  }

  #wait(run: Run): void {
    this.#owners.set(run.owner.name, run.owner);
    run.owner.runs.set(run.id, run);
    run.owner.length += run.length;
  }

  #leave({ id, owner, length }: Run): void {
    if (!owner.runs.delete(id)) return;
    owner.length -= length;
    if (owner.runs.size === 0) this.#owners.delete(owner.name);
  }

  #drop(run: Run): void {
    this.#leave(run);
    this.#taken.delete(run.id);
    if (this.#runs.delete(run.id)) this.#length -= run.length;
  }
}
