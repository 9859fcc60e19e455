import type { StoredSuspension, SuspensionFilter } from "./suspension-store.ts";

const summaryOrder = (a: StoredSuspension, b: StoredSuspension): number =>
  a.suspended_at < b.suspended_at ? -1 : Number(a.suspended_at > b.suspended_at);

const fits = (record: StoredSuspension, filter: SuspensionFilter): boolean =>
  (filter.status === undefined || record.status === filter.status) &&
  (filter.sessionId === undefined || record.session_id === filter.sessionId) &&
  (filter.signalId === undefined || record.descriptor.signal_id === filter.signalId) &&
  (filter.isDelivered === undefined || record.is_delivered === filter.isDelivered);

type Records = ReadonlyMap<string, StoredSuspension>;

/** Suspensions by their ids, in the order in which they came, and found by what they wait for without a walk through all. */
export class SuspensionIndex {
  readonly #all = new Map<string, StoredSuspension>();
  readonly #waiting = new Map<string, StoredSuspension>();
  readonly #undelivered = new Map<string, StoredSuspension>();
  readonly #bySignal = new Map<string, Map<string, StoredSuspension>>();

  get(invocationId: string): StoredSuspension | undefined {
    return this.#all.get(invocationId);
  }

  /** How many wait for a signal. */
  get waitingCount(): number {
    return this.#waiting.size;
  }

  /** Whether another invocation waits for a signal. */
  isTaken(signalId: string, invocationId: string): boolean {
    const records = [...(this.#bySignal.get(signalId)?.values() ?? [])];
    return records.some(({ status, invocation_id: id }) => status === "suspended" && id !== invocationId);
  }

  /** Keeps a record, in place of the one with its id. */
  set(record: StoredSuspension): void {
    const { invocation_id: id, descriptor } = record;
    const before = this.#all.get(id);
    if (before !== undefined && before.descriptor.signal_id !== descriptor.signal_id) this.#unlink(before);
    this.#all.set(id, record);
    // What stays where it is keeps its place, so that those of one moment stay in their order.
    if (record.status === "suspended") this.#waiting.set(id, record);
    else this.#waiting.delete(id);
    if (record.is_delivered) this.#undelivered.delete(id);
    else this.#undelivered.set(id, record);
    const others = this.#bySignal.get(descriptor.signal_id) ?? new Map<string, StoredSuspension>();
    this.#bySignal.set(descriptor.signal_id, others.set(id, record));
  }

  delete(invocationId: string): void {
    const record = this.#all.get(invocationId);
    if (record === undefined) return;
    this.#unlink(record);
    this.#waiting.delete(invocationId);
    this.#undelivered.delete(invocationId);
    this.#all.delete(invocationId);
  }

  #unlink({ invocation_id: id, descriptor }: StoredSuspension): void {
    const others = this.#bySignal.get(descriptor.signal_id);
    others?.delete(id);
    if (others?.size === 0) this.#bySignal.delete(descriptor.signal_id);
  }

  /** Those that fit, the one suspended first at the head. */
  list(filter: SuspensionFilter): StoredSuspension[] {
    const places: (Records | undefined)[] = [
      this.#all,
      ...(filter.status === "suspended" ? [this.#waiting] : []),
      ...(filter.isDelivered === false ? [this.#undelivered] : []),
      ...(filter.signalId === undefined ? [] : [this.#bySignal.get(filter.signalId)]),
    ];
    const smallest = places.reduce((best, place) => ((place?.size ?? 0) < (best?.size ?? 0) ? place : best));
    return [...(smallest?.values() ?? [])].filter((record) => fits(record, filter)).sort(summaryOrder);
  }
}
