import { hash } from "node:crypto";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { BoundedMap, canonicalJson, joinKey } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";
import type { EventFacts } from "./read-event.ts";

/** Calls whose rows are remembered. */
const maxCalls = 10_000;
/** Actions under one call's id that are remembered. */
const maxActionsPerCall = 20;

type Action = Pick<EventFacts, "agent" | "session" | "callId" | "payload">;

interface Known {
  readonly action: string;
  readonly key: string;
}

/** A row's key, and the digest of its action. */
export interface BegunAction extends Known {}

export interface EndedAction {
  readonly key: string;
  /** What the row's content must say, where this process does not know the row. */
  readonly action?: string | undefined;
}

const digestOf = ({ tool_name: tool = "", arguments: input = null }: JsonObject): string =>
  hash("sha256", canonicalJson([tool, input]), "base64url");

/** An outcome may come without the input. */
const hasInput = ({ arguments: input }: JsonObject): boolean =>
  input !== undefined && input !== null && !(isObject(input) && Object.keys(input).length === 0);

/**
 * Names the rows of actions from their first event to their outcome: by session, call and what is done. An agent that uses the id of a
 * call for another action has two rows, and each outcome closes its own.
 */
export class ActionKeys {
  readonly #calls = new BoundedMap<string, readonly Known[]>({ maxSize: maxCalls });

  /** For the row of an action that begins; `modified` is the payload that a policy has changed. */
  begin({ agent, session, callId, payload }: Action, modified?: unknown): BegunAction {
    const digest = digestOf(payload);
    const action = isObject(modified) ? digestOf({ ...payload, ...(modified as JsonObject) }) : digest;
    const place = joinKey(agent, session);
    if (callId === undefined) return { key: joinKey(place, `does ${action}`), action };
    const call = joinKey(place, `call ${callId}`);
    const known = this.#calls.get(call) ?? [];
    const found = known.find((each) => each.action === action || each.action === digest);
    if (found !== undefined) return { key: found.key, action };
    // The first action of a call is found without its input, too.
    const key = known.length === 0 ? call : joinKey(call, action);
    const added =
      action === digest
        ? [{ action, key }]
        : [
            { action, key },
            { action: digest, key },
          ];
    this.#calls.set(call, [...known, ...added].slice(-maxActionsPerCall));
    return { key, action };
  }

  /** For an outcome; undefined for that of an action that no row of its call is about. */
  end({ agent, session, callId, payload }: Action): EndedAction | undefined {
    const place = joinKey(agent, session);
    if (callId === undefined) return { key: joinKey(place, `does ${digestOf(payload)}`) };
    const call = joinKey(place, `call ${callId}`);
    const action = hasInput(payload) ? digestOf(payload) : undefined;
    const known = this.#calls.get(call);
    if (known === undefined) return { key: call, action };
    const isOne = known.every(({ key }) => key === known[0]?.key);
    const found = action === undefined ? isOne && known[0] : known.find((each) => each.action === action);
    if (!found) return undefined;
    const left = known.filter(({ key }) => key !== found.key);
    if (left.length === 0) this.#calls.delete(call);
    else this.#calls.set(call, left);
    return { key: found.key };
  }
}
