import type { StoredSuspension, SuspensionFilter } from "./suspension-store.ts";

type Records = Map<string, StoredSuspension>;

const bySuspension = (a: StoredSuspension, b: StoredSuspension): number =>
  a.suspended_at < b.suspended_at ? -1 : Number(a.suspended_at > b.suspended_at);

const matchesFilter = (record: StoredSuspension, filter: SuspensionFilter): boolean =>
  (filter.status === undefined || record.status === filter.status) &&
  (filter.sessionId === undefined || record.session_id === filter.sessionId) &&
  (filter.signalId === undefined || record.descriptor.signal_id === filter.signalId) &&
  (filter.isDelivered === undefined || record.is_delivered === filter.isDelivered);

/** Suspensions by id in the order of their arrival. Finding what waits does not walk through what has ended. */
export class SuspensionIndex {
  readonly #all: Records = new Map();
  /** Those that wait for a signal, or whose end is not delivered. */
  readonly #open: Records = new Map();
  readonly #bySignal = new Map<string, Records>();
  #suspendedCount = 0;

  get(invocationId: string): StoredSuspension | undefined {
    return this.#all.get(invocationId);
  }

  /** How many wait for a signal. */
  get suspendedCount(): number {
    return this.#suspendedCount;
  }

  /** Whether another invocation waits for a signal. */
  isTaken(signalId: string, invocationId: string): boolean {
    const records = [...(this.#bySignal.get(signalId)?.values() ?? [])];
    return records.some(({ status, invocation_id: id }) => status === "suspended" && id !== invocationId);
  }

  /** Adds a record, or replaces the one with its id in place. */
  set(record: StoredSuspension): void {
    const { invocation_id: id, descriptor } = record;
    const before = this.#all.get(id);
    if (before !== undefined && before.descriptor.signal_id !== descriptor.signal_id) this.#unlink(before);
    this.#suspendedCount += Number(record.status === "suspended") - Number(before?.status === "suspended");
    this.#all.set(id, record);
    if (record.status === "suspended" || !record.is_delivered) this.#open.set(id, record);
    else this.#open.delete(id);
    const others: Records = this.#bySignal.get(descriptor.signal_id) ?? new Map();
    this.#bySignal.set(descriptor.signal_id, others.set(id, record));
  }

  delete(invocationId: string): void {
    const record = this.#all.get(invocationId);
    if (record === undefined) return;
    this.#unlink(record);
    this.#suspendedCount -= Number(record.status === "suspended");
    this.#open.delete(invocationId);
    this.#all.delete(invocationId);
  }

  #unlink({ invocation_id: id, descriptor }: StoredSuspension): void {
    const others = this.#bySignal.get(descriptor.signal_id);
    others?.delete(id);
    if (others?.size === 0) this.#bySignal.delete(descriptor.signal_id);
  }

  /** Those that match, the first suspended first. */
  list(filter: SuspensionFilter): StoredSuspension[] {
    const isOpen = filter.status === "suspended" || filter.isDelivered === false;
    const most: Records = isOpen ? this.#open : this.#all;
    const records = filter.signalId === undefined ? most : this.#bySignal.get(filter.signalId);
    return [...(records?.values() ?? [])]
      .filter((record) => matchesFilter(record, filter))
      .sort(bySuspension);
  }
}
