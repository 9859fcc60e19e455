import { type EventView, ownOf } from "../cel/event-view.ts";
import type { Limit } from "./limit.ts";

interface Running {
  readonly callId: string | undefined;
  readonly session: string;
  readonly until: number;
}

/** What one key of a limit has used. */
interface Slot {
  times: number[];
  running: Running[];
}

/** A limit without room, and when there may be some. */
export interface OverLimit {
  readonly limit: Limit;
  readonly retryAfterMs: number;
  readonly why: string;
}

/** How soon to ask again for a place among concurrent actions, in milliseconds; nobody knows when one ends. */
const concurrentRetryMs = 1000;

const callIdOf = (view: EventView): string | undefined => {
  const id = ownOf(view.event.metadata, "call_id") ?? ownOf(view.event.payload, "call_id");
  return typeof id === "string" && id !== "" ? id : undefined;
};

const keyOf = (limit: Limit, view: EventView): string =>
  limit.per.length === 0 ? "" : JSON.stringify(limit.per.map((scope) => view[scope]));

/**
 * What the limits of a policy have counted, by the limits' names, so that it outlives a reload. Everything happens at
 * once: between asking for room and taking it nobody else is asked.
 */
export class LimitStore {
  readonly #slots = new Map<string, Map<string, Slot>>();
  readonly #maxKeys: number;

  constructor(maxKeys: number) {
    this.#maxKeys = maxKeys;
  }

  /** Forgets limits that are no more. */
  keep(names: ReadonlySet<string>): void {
    for (const name of this.#slots.keys()) if (!names.has(name)) this.#slots.delete(name);
  }

  /** Why a limit has no room for an event; undefined if it has. Takes none. */
  over(limit: Limit, view: EventView, nowMs: number): OverLimit | undefined {
    const slots = this.#slotsOf(limit);
    const key = keyOf(limit, view);
    const slot = slots.get(key);
    if (!slot) {
      if (slots.size >= this.#maxKeys) this.#sweep(limit, nowMs);
      if (slots.size < this.#maxKeys) return undefined;
      return { limit, retryAfterMs: concurrentRetryMs, why: `more than ${this.#maxKeys} are counted` };
    }
    prune(limit, slot, nowMs);
    const { rate, concurrent } = limit;
    const per = limit.per.length > 0 ? ` for each ${limit.per.join(" and ")}` : "";
    if (rate && slot.times.length >= rate.max) {
      const first = slot.times[slot.times.length - rate.max] as number;
      const retryAfterMs = Math.min(rate.windowMs, Math.max(1, first + rate.windowMs - nowMs));
      return { limit, retryAfterMs, why: `at most ${rate.max} in ${rate.windowMs} ms${per}` };
    }
    if (concurrent && slot.running.length >= concurrent.max) {
      return { limit, retryAfterMs: concurrentRetryMs, why: `at most ${concurrent.max} at a time${per}` };
    }
    return undefined;
  }

  /** Takes a place. */
  take(limit: Limit, view: EventView, nowMs: number): void {
    const slots = this.#slotsOf(limit);
    const key = keyOf(limit, view);
    let slot = slots.get(key);
    if (!slot) {
      // A shadow limit has room for everybody, but not in memory.
      if (slots.size >= this.#maxKeys) return;
      slot = { times: [], running: [] };
      slots.set(key, slot);
    }
    if (limit.rate) {
      slot.times.push(nowMs);
      if (slot.times.length > limit.rate.max) slot.times.shift();
    }
    if (limit.concurrent) {
      const until = nowMs + limit.concurrent.expireMs;
      slot.running.push({ callId: callIdOf(view), session: view.session, until });
      if (slot.running.length > limit.concurrent.max) slot.running.shift();
    }
  }

  /** An action is over: gives its place back, by its call's id where both events name one, else the oldest place. */
  end(limit: Limit, view: EventView): void {
    if (!limit.concurrent) return;
    const slots = this.#slotsOf(limit);
    const key = keyOf(limit, view);
    const slot = slots.get(key);
    if (!slot) return;
    const callId = callIdOf(view);
    let place = slot.running.findIndex((one) => one.callId === callId);
    if (place === -1 && callId !== undefined)
      place = slot.running.findIndex((one) => one.callId === undefined);
    if (place === -1 && callId === undefined) place = 0;
    if (place !== -1) slot.running.splice(place, 1);
    if (slot.running.length === 0 && slot.times.length === 0) slots.delete(key);
  }

  /** A session is over: gives back all its places. */
  endSession(limit: Limit, session: string): void {
    if (!limit.concurrent) return;
    for (const slot of this.#slotsOf(limit).values()) {
      if (slot.running.some((one) => one.session === session)) {
        slot.running = slot.running.filter((one) => one.session !== session);
      }
    }
  }

  #slotsOf(limit: Limit): Map<string, Slot> {
    const known = this.#slots.get(limit.name);
    if (known) return known;
    const slots = new Map<string, Slot>();
    this.#slots.set(limit.name, slots);
    return slots;
  }

  #sweep(limit: Limit, nowMs: number): void {
    const slots = this.#slotsOf(limit);
    for (const [key, slot] of slots) {
      prune(limit, slot, nowMs);
      if (slot.times.length === 0 && slot.running.length === 0) slots.delete(key);
    }
  }
}

const prune = (limit: Limit, slot: Slot, nowMs: number): void => {
  const since = nowMs - (limit.rate?.windowMs ?? 0);
  const kept = slot.times.findIndex((time) => time > since);
  if (kept !== 0) slot.times = kept === -1 ? [] : slot.times.slice(kept);
  if (slot.running.some((one) => one.until <= nowMs)) {
    slot.running = slot.running.filter((one) => one.until > nowMs);
  }
};
