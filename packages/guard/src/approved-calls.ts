import type { HookCall } from "@harnesskit/agent-hooks";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { BoundedMap } from "@harnesskit/wire";
import { canonicalJson } from "@harnesskit/wire/json";

/** The call in the host's own words: session, turn, subagent, tool and input. */
const keyOf = ({ host, session, event, hostTool, toolInput }: HookCall): string => {
  const { turn_id: turn, prompt_id: prompt, agent_id: subagent } = (event?.metadata ?? {}) as JsonObject;
  const place = [host.id, session, turn ?? prompt ?? null, subagent ?? null];
  return canonicalJson([...place, hostTool ?? null, toolInput ?? null]);
};

const idOf = ({ event }: HookCall): string => {
  const { tool_call_id: id } = (event?.payload ?? {}) as JsonObject;
  return typeof id === "string" ? id : "";
};

/**
 * Calls whose host need not ask its user, until it asks. The host's question has no id of a call: it is the one that was just
 * judged, by session, turn, tool and input.
 */
export class ApprovedCalls {
  /** By call, the ids under which it was approved. */
  readonly #ids: BoundedMap<string, readonly string[]>;

  constructor(maxSize: number) {
    this.#ids = new BoundedMap({ maxSize });
  }

  /** What was decided last about a call holds. */
  judged(call: HookCall, isApproved: boolean): void {
    const key = keyOf(call);
    if (isApproved) this.#ids.set(key, [...(this.#ids.get(key) ?? []), idOf(call)]);
    else this.#ids.delete(key);
  }

  /** A call has ended: the host did not have to ask. */
  ended(call: HookCall): void {
    this.#remove(keyOf(call), idOf(call));
  }

  /** Whether a call is approved; each approval is there for one question. */
  take(call: HookCall): boolean {
    const key = keyOf(call);
    const [first] = this.#ids.get(key) ?? [];
    if (first === undefined) return false;
    this.#remove(key, first);
    return true;
  }

  #remove(key: string, id: string): void {
    const ids = this.#ids.get(key) ?? [];
    const at = ids.indexOf(id);
    if (at === -1) return;
    if (ids.length === 1) this.#ids.delete(key);
    else this.#ids.set(key, ids.toSpliced(at, 1));
  }
}
