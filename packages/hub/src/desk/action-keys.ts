import { hash } from "node:crypto";
import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { BoundedMap, BoundedSet, canonicalJson, joinKey } from "@harnesskit/wire";
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
  /** Whether this process knows that the call was decided: its row may be closed already. */
  readonly wasDecided: boolean;
}

const jsonHash = (value: unknown): string => hash("sha256", canonicalJson(value), "base64url");

/** The input without the directory in which it is done: after a call, an agent may state the one to which the call has changed. */
const placeless = (input: JsonValue): JsonValue => {
  if (!isObject(input) || !Object.hasOwn(input, "cwd")) return input;
  const { cwd: _cwd, ...rest } = input as JsonObject;
  return rest;
};

/** What is done: tool and input as JSON, or the digest of a long one. */
const actionText = ({ tool_name: tool = "", arguments: given = null }: JsonObject): string => {
  const input = placeless(given);
  const text = JSON.stringify([tool, input]);
  return text.length <= maxTextLength ? text : jsonHash([tool, input]);
};

const isSame = (one: string, other: string): boolean => {
  if (one === other || !one.startsWith("[") || !other.startsWith("[")) return one === other;
  return canonicalJson(JSON.parse(one)) === canonicalJson(JSON.parse(other));
};

/**
 * What an outcome may say was done: what was asked for, what the policy has made of it, and, since an agent may put a change into its own
 * arguments, both together.
 */
const formsOf = (payload: JsonObject, modified: unknown): readonly JsonObject[] => {
  if (!isObject(modified)) return [payload];
  const changed = { ...payload, ...(modified as JsonObject) };
  const [before, after] = [payload.arguments, changed.arguments];
  if (!isObject(before) || !isObject(after)) return [payload, changed];
  return [payload, changed, { ...changed, arguments: { ...before, ...after } as JsonObject }];
};

/** An outcome may come without the input. */
const hasInput = ({ arguments: input }: JsonObject): boolean =>
  input !== undefined && input !== null && !(isObject(input) && Object.keys(input).length === 0);

/** Whether two payloads that were redacted alike say that different things are done; false where one does not say it. */
export const areDifferent = (one: JsonObject, other: JsonObject): boolean =>
  hasInput(one) && hasInput(other) && !isSame(actionText(one), actionText(other));

/**
 * Names the rows of actions from their first event to their outcome: by session, call and what is done. An agent that uses the id of a
 * call for another action has two rows, and each outcome closes its own.
 */
export class ActionKeys {
  readonly #calls = new BoundedMap<string, readonly Known[]>({ maxSize: maxCalls });
  /** Calls that were decided. */
  readonly #decided = new BoundedSet<string>({ maxSize: maxCalls });
  /** For agents without ids of calls: the key of a row by each form of its action. */
  readonly #forms = new BoundedMap<string, string>({ maxSize: maxCalls });

  /** The key for the row of an action that begins; `modified` is the payload that a policy has changed. */
  begin({ agent, session, callId, payload }: Action, modified?: unknown): string {
    const place = joinKey(agent, session);
    this.decided({ agent, session, callId, payload });
    const forms = formsOf(payload, modified);
    if (callId === undefined) {
      const key = doesKey(place, payload);
      for (const form of forms.slice(1)) this.#forms.set(doesKey(place, form), key);
      return key;
    }
    const call = joinKey(place, `call ${callId}`);
    const actions = forms.map(actionText);
    const known = this.#calls.get(call);
    const found = known?.find(({ action }) => actions.some((each) => isSame(each, action)));
    if (found !== undefined) return found.key;
    // The first action of a call is found without its input, too.
    const key = known === undefined ? call : joinKey(call, jsonHash(actions));
    const added = actions.map((action) => ({ action, key }));
    this.#calls.set(call, known === undefined ? added : [...known, ...added].slice(-maxActionsPerCall));
    return key;
  }

  /** An action was decided; also one that must not happen, which its agent may report all the same. */
  decided({ agent, session, callId, payload }: Action): void {
    const place = joinKey(agent, session);
    this.#decided.add(callId === undefined ? doesKey(place, payload) : joinKey(place, `call ${callId}`));
  }

  /** For an outcome; undefined for that of an action that no row of its call is about. */
  end({ agent, session, callId, payload }: Action): EndedAction | undefined {
    const place = joinKey(agent, session);
    if (callId === undefined) {
      const key = doesKey(place, payload);
      const changed = this.#forms.get(key);
      const wasDecided = changed !== undefined || this.#decided.has(key);
      return { key: changed ?? key, isKnown: true, wasDecided };
    }
    const call = joinKey(place, `call ${callId}`);
    const known = this.#calls.get(call);
    if (known === undefined) return { key: call, isKnown: false, wasDecided: this.#decided.has(call) };
    const found = hasInput(payload) ? findAction(known, actionText(payload)) : only(known);
    if (found === undefined) return undefined;
    const left = known.filter(({ key }) => key !== found.key);
    if (left.length === 0) this.#calls.delete(call);
    else this.#calls.set(call, left);
    return { key: found.key, isKnown: true, wasDecided: true };
  }
}

const findAction = (known: readonly Known[], action: string): Known | undefined =>
  known.find((each) => isSame(each.action, action));

/** The one row of a call; undefined where there are several. */
const only = (known: readonly Known[]): Known | undefined =>
  known.every(({ key }) => key === known[0]?.key) ? known[0] : undefined;

const doesKey = (place: string, { tool_name: tool = "", arguments: input = null }: JsonObject): string =>
  joinKey(place, `does ${jsonHash([tool, placeless(input)])}`);
