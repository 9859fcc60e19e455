import type { AhpEvent, Decision } from "@harnesskit/protocol/ahp";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { BoundedMap } from "@harnesskit/wire";
import { canonicalJson, isObject } from "@harnesskit/wire/json";

/** The call of an event: its tool and arguments, but for the directory, which a host may state apart. */
const keyOf = (event: AhpEvent, args: JsonObject): string => {
  const { tool_name: tool = "" } = event.payload as JsonObject;
  const { cwd: _cwd, ...others } = args;
  return canonicalJson([event.agent_id, event.session_id, tool, others]);
};

const argumentsOf = ({ payload }: AhpEvent): JsonObject | undefined =>
  isObject(payload) && isObject(payload.arguments) && payload.tool_call_id === undefined
    ? (payload.arguments as JsonObject)
    : undefined;

/**
 * Of hosts whose calls have no id, an outcome is known by what was called. Where the harness has changed a call, this finds the
 * one that it was asked about.
 */
export class ModifiedCalls {
  readonly #originals: BoundedMap<string, JsonObject>;

  constructor(maxSize: number) {
    this.#originals = new BoundedMap({ maxSize });
  }

  /** Remembers a change. */
  note(event: AhpEvent, decision: Decision): void {
    const original = argumentsOf(event);
    const modified = "modified_payload" in decision ? decision.modified_payload : undefined;
    if (!original || !isObject(modified) || !isObject(modified.arguments)) return;
    this.#originals.set(keyOf(event, modified.arguments as JsonObject), original);
  }

  /** The outcome with the arguments of the question; what has run is in `modified_arguments`. */
  restore(event: AhpEvent): AhpEvent {
    const args = argumentsOf(event);
    const key = args && keyOf(event, args);
    const original = key === undefined ? undefined : this.#originals.get(key);
    if (key === undefined || args === undefined || original === undefined) return event;
    this.#originals.delete(key);
    const payload = { ...(event.payload as JsonObject), arguments: original, modified_arguments: args };
    return { ...event, payload };
  }
}
