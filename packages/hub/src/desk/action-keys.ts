import { hash } from "node:crypto";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { BoundedMap, canonicalJson, joinKey } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";
import type { EventFacts } from "./read-event.ts";

/** Calls whose rows are remembered. */
const maxCalls = 10_000;
/** Actions under one call's id that are remembered. */
const maxActionsPerCall = 20;
/** Characters of an action that are remembered as they are. */
const maxTextLength = 500;

type Action = Pick<EventFacts, "agent" | "session" | "callId" | "payload">;

interface Known {
  readonly action: string;
  readonly key: string;
}

export interface EndedAction {
  readonly key: string;
  /** Whether this process knows that the row is about this action; else the row's content must say so. */
  readonly isKnown: boolean;
}

const digestOf = (value: unknown): string => hash("sha256", canonicalJson(value), "base64url");

/** What is done: tool and input as JSON, or the digest of a long one. */
const actionOf = ({ tool_name: tool = "", arguments: input = null }: JsonObject): string => {
  const text = JSON.stringify([tool, input]);
  return text.length <= maxTextLength ? text : digestOf([tool, input]);
};

const isSame = (one: string, other: string): boolean => {
  if (one === other || !one.startsWith("[") || !other.startsWith("[")) return one === other;
  return canonicalJson(JSON.parse(one)) === canonicalJson(JSON.parse(other));
};

/** An outcome may come without the input. */
const hasInput = ({ arguments: input }: JsonObject): boolean =>
  input !== undefined && input !== null && !(isObject(input) && Object.keys(input).length === 0);

/** Whether two payloads that were redacted alike say that different things are done; false where one does not say it. */
export const areDifferent = (one: JsonObject, other: JsonObject): boolean =>
  hasInput(one) && hasInput(other) && !isSame(actionOf(one), actionOf(other));

/**
 * Names the rows of actions from their first event to their outcome: by session, call and what is done. An agent that uses the id of a
 * call for another action has two rows, and each outcome closes its own.
 */
export class ActionKeys {
  readonly #calls = new BoundedMap<string, readonly Known[]>({ maxSize: maxCalls });

  /** The key for the row of an action that begins; `modified` is the payload that a policy has changed. */
  begin({ agent, session, callId, payload }: Action, modified?: unknown): string {
    const place = joinKey(agent, session);
    const changed = isObject(modified) ? { ...payload, ...(modified as JsonObject) } : undefined;
    if (callId === undefined) return doesKey(place, changed ?? payload);
    const call = joinKey(place, `call ${callId}`);
    const actions = [actionOf(payload), ...(changed === undefined ? [] : [actionOf(changed)])];
    const known = this.#calls.get(call);
    const found = known?.find(({ action }) => actions.some((each) => isSame(each, action)));
    if (found !== undefined) return found.key;
    // The first action of a call is found without its input, too.
    const key = known === undefined ? call : joinKey(call, digestOf(actions));
    const added = actions.map((action) => ({ action, key }));
    this.#calls.set(call, known === undefined ? added : [...known, ...added].slice(-maxActionsPerCall));
    return key;
  }

  /** For an outcome; undefined for that of an action that no row of its call is about. */
  end({ agent, session, callId, payload }: Action): EndedAction | undefined {
    const place = joinKey(agent, session);
    if (callId === undefined) return { key: doesKey(place, payload), isKnown: true };
    const call = joinKey(place, `call ${callId}`);
    const known = this.#calls.get(call);
    if (known === undefined) return { key: call, isKnown: false };
    const found = hasInput(payload) ? find(known, actionOf(payload)) : only(known);
    if (found === undefined) return undefined;
    const left = known.filter(({ key }) => key !== found.key);
    if (left.length === 0) this.#calls.delete(call);
    else this.#calls.set(call, left);
    return { key: found.key, isKnown: true };
  }
}

const find = (known: readonly Known[], action: string): Known | undefined =>
  known.find((each) => isSame(each.action, action));

/** The one row of a call; undefined where there are several. */
const only = (known: readonly Known[]): Known | undefined =>
  known.every(({ key }) => key === known[0]?.key) ? known[0] : undefined;

const doesKey = (place: string, { tool_name: tool = "", arguments: input = null }: JsonObject): string =>
  joinKey(place, `does ${digestOf([tool, input])}`);
