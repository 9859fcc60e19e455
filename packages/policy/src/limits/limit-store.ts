import { type EventView, ownProperty } from "../cel/event-view.ts";
import type { Limit } from "./limit.ts";

interface Running {
  readonly callId: string | undefined;
  readonly session: string;
  readonly until: number;
}

/** What one key of a limit has used. */
interface Usage {
  times: number[];
  running: Running[];
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

const isUnused = ({ times, running }: Usage): boolean => times.length === 0 && running.length === 0;

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
    const per = limit.per.length > 0 ? ` for each ${limit.per.join(" and ")}` : "";
    if (rate && usage.times.length >= rate.max) {
      const first = usage.times[usage.times.length - rate.max] as number;
      const retryAfterMs = Math.min(rate.windowMs, Math.max(1, first + rate.windowMs - nowMs));
      return { retryAfterMs, why: `at most ${rate.max} in ${rate.windowMs} ms${per}` };
    }
    if (concurrent && usage.running.length >= concurrent.max)
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

  /** Takes a place. */
  take(limit: Limit, view: EventView, nowMs: number): void {
    const usages = this.#usagesOf(limit);
    const key = usageKey(limit, view);
    const usage = usages.get(key) ?? { times: [], running: [] };
    // A limit in shadow lets more pass than it counts.
    if (!usages.has(key) && usages.size >= this.#maxKeys) return;
    usages.set(key, usage);
    if (limit.rate) {
      usage.times.push(nowMs);
      if (usage.times.length > limit.rate.max) usage.times.shift();
    }
    if (limit.concurrent) {
      const until = nowMs + limit.concurrent.expireMs;
      usage.running.push({ callId: callIdOf(view), session: view.session, until });
      if (usage.running.length > limit.concurrent.max) usage.running.shift();
    }
  }

  /** An action ended: releases its place, by the call's id where both events name one, else the oldest place. */
  end(limit: Limit, view: EventView): void {
    const usages = this.#usagesOf(limit);
    const key = usageKey(limit, view);
    const usage = usages.get(key);
    if (!limit.concurrent || !usage) return;
    const { running } = usage;
    const callId = callIdOf(view);
    const placeOf = (id: string | undefined): number => running.findIndex((one) => one.callId === id);
    const own = placeOf(callId);
    const other = callId === undefined ? 0 : placeOf(undefined);
    const place = own === -1 ? other : own;
    if (place !== -1) running.splice(place, 1);
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
  usage.times = usage.times.filter((time) => time > since);
  usage.running = usage.running.filter(({ until }) => until > nowMs);
};
