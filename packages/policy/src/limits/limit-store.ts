import { type EventView, ownProperty } from "../cel/event-view.ts";
import type { Limit } from "./limit.ts";

/** The call that took a place. */
interface Place {
  readonly callId: string | undefined;
  readonly session: string;
}

/** What one key of a limit has used. */
interface Usage {
  counted: (Place & { readonly time: number })[];
  running: (Place & { readonly until: number })[];
}

/** Why a limit has no room, and when to ask again. */
export interface OverLimit {
  readonly retryAfterMs: number;
  readonly why: string;
}

/** How soon to ask again for a place among concurrent actions; when one ends is not known. */
const concurrentRetryMs = 1000;

const callIdOf = ({ event }: EventView): string | undefined => {
  const id = ownProperty(event.metadata, "call_id") ?? ownProperty(event.payload, "call_id");
  return typeof id === "string" && id !== "" ? id : undefined;
};

const usageKey = (limit: Limit, view: EventView): string =>
  JSON.stringify(limit.per.map((scope) => view[scope]));

const isUnused = ({ counted, running }: Usage): boolean => counted.length === 0 && running.length === 0;

const placeOf = (view: EventView): Place => ({ callId: callIdOf(view), session: view.session });

/** The index of the place that a call has already: it may be asked about again before it ends, such as after a change. */
const indexOfCall = (places: readonly Place[], { callId, session }: Place): number =>
  callId === undefined ? -1 : places.findIndex((one) => one.callId === callId && one.session === session);

/** What the limits of a policy have counted, by the limits' names: it stays when the policy is replaced. */
export class LimitStore {
  readonly #usages = new Map<string, Map<string, Usage>>();
  readonly #maxKeys: number;

  constructor(maxKeys: number) {
    this.#maxKeys = maxKeys;
  }

  /** Forgets the limits with other names. */
  keep(names: ReadonlySet<string>): void {
    for (const name of this.#usages.keys()) if (!names.has(name)) this.#usages.delete(name);
  }

  /** Why a limit has no room for an event; undefined if it has. */
  over(limit: Limit, view: EventView, nowMs: number): OverLimit | undefined {
    const usages = this.#usagesOf(limit);
    const usage = usages.get(usageKey(limit, view));
    if (!usage) return this.#overKeys(limit, usages, nowMs);
    dropEnded(limit, usage, nowMs);
    const { rate, concurrent } = limit;
    const has = (places: readonly Place[]) => indexOfCall(places, placeOf(view)) !== -1;
    const per = limit.per.length > 0 ? ` for each ${limit.per.join(" and ")}` : "";
    const first = rate && usage.counted.at(-rate.max);
    if (rate && first && usage.counted.length >= rate.max && !has(usage.counted)) {
      const retryAfterMs = Math.min(rate.windowMs, Math.max(1, first.time + rate.windowMs - nowMs));
      return { retryAfterMs, why: `at most ${rate.max} in ${rate.windowMs} ms${per}` };
    }
    if (concurrent && usage.running.length >= concurrent.max && !has(usage.running))
      return { retryAfterMs: concurrentRetryMs, why: `at most ${concurrent.max} at a time${per}` };
    return undefined;
  }

  #overKeys(limit: Limit, usages: Map<string, Usage>, nowMs: number): OverLimit | undefined {
    if (usages.size >= this.#maxKeys) {
      for (const [key, usage] of usages) {
        dropEnded(limit, usage, nowMs);
        if (isUnused(usage)) usages.delete(key);
      }
    }
    if (usages.size < this.#maxKeys) return undefined;
    return { retryAfterMs: concurrentRetryMs, why: `more than ${this.#maxKeys} are counted` };
  }

  /** Takes a place; a call that has one keeps it. */
  take(limit: Limit, view: EventView, nowMs: number): void {
    const usages = this.#usagesOf(limit);
    const key = usageKey(limit, view);
    const usage = usages.get(key) ?? { counted: [], running: [] };
    // A limit in shadow lets more pass than it counts.
    if (!usages.has(key) && usages.size >= this.#maxKeys) return;
    usages.set(key, usage);
    const place = placeOf(view);
    if (limit.rate && indexOfCall(usage.counted, place) === -1) {
      usage.counted.push({ ...place, time: nowMs });
      if (usage.counted.length > limit.rate.max) usage.counted.shift();
    }
    if (limit.concurrent && indexOfCall(usage.running, place) === -1) {
      usage.running.push({ ...place, until: nowMs + limit.concurrent.expireMs });
      if (usage.running.length > limit.concurrent.max) usage.running.shift();
    }
  }

  /**
   * An action ended: releases its place among the concurrent ones, by the call's id where both events name one, else the
   * oldest place. What comes under its id from then on is another action.
   */
  end(limit: Limit, view: EventView): void {
    const usages = this.#usagesOf(limit);
    const key = usageKey(limit, view);
    const usage = usages.get(key);
    if (!usage) return;
    const { counted, running } = usage;
    const { callId, session } = placeOf(view);
    const ended = indexOfCall(counted, { callId, session });
    const one = counted[ended];
    if (one) counted[ended] = { ...one, callId: undefined };
    const indexOf = (id: string | undefined): number => running.findIndex((place) => place.callId === id);
    const own = indexOf(callId);
    const other = callId === undefined ? 0 : indexOf(undefined);
    const index = own === -1 ? other : own;
    if (index !== -1) running.splice(index, 1);
    if (isUnused(usage)) usages.delete(key);
  }

  /** A session ended: releases all its places. */
  endSession(limit: Limit, session: string): void {
    for (const usage of this.#usagesOf(limit).values())
      usage.running = usage.running.filter((one) => one.session !== session);
  }

  #usagesOf({ name }: Limit): Map<string, Usage> {
    const usages = this.#usages.get(name) ?? new Map<string, Usage>();
    this.#usages.set(name, usages);
    return usages;
  }
}

const dropEnded = (limit: Limit, usage: Usage, nowMs: number): void => {
  const since = nowMs - (limit.rate?.windowMs ?? 0);
  usage.counted = usage.counted.filter(({ time }) => time > since);
  usage.running = usage.running.filter(({ until }) => until > nowMs);
};
