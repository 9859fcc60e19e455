import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { BoundedMap } from "@harnesskit/wire";
import { canonicalJson } from "@harnesskit/wire/json";
import type { ProxiedAction } from "../proxy/rulings.ts";
import type { ToolCall } from "./tool-call.ts";

/** A call whose last answer was a question (`input_required`): it goes on when the client repeats it with the answer. */
export interface ContinuedCall {
  readonly action: ProxiedAction;
  readonly startedMs: number;
  /** Set where the question was the server's: the call was decided, and `changed` is what the harness put in the place of its arguments. */
  readonly decided?: { readonly changed: JsonObject | undefined };
}

const keyOf = ({ name, arguments: args }: ToolCall, state: JsonValue | undefined): string | undefined => {
  try {
    return canonicalJson([name, args, state ?? null]);
  } catch {
    // A lone surrogate, for example: such a call is decided anew.
    return undefined;
  }
};

const maxCalls = 256;

/** Calls that wait for the client's input. Each can be continued once. */
export class ContinuedCalls {
  readonly #calls: BoundedMap<string, ContinuedCall>;
  readonly #onLost: (call: ContinuedCall) => void;

  /** `onLost` receives each call that cannot be continued any more. */
  constructor(onLost: (call: ContinuedCall) => void) {
    this.#onLost = onLost;
    this.#calls = new BoundedMap({ maxSize: maxCalls, onDrop: (_key, call) => onLost(call) });
  }

  /** The answer of a call. False where it is not a question, or none that could be known again. */
  note(call: ToolCall, result: JsonObject, continued: ContinuedCall): boolean {
    const key = result.resultType === "input_required" ? keyOf(call, result.requestState) : undefined;
    if (key === undefined) return false;
    const replaced = this.#calls.get(key);
    if (replaced) this.#onLost(replaced);
    this.#calls.set(key, continued);
    return true;
  }

  /** The call that this one continues, which is taken out; undefined for any other call. */
  take(call: ToolCall): ContinuedCall | undefined {
    const { requestState, inputResponses } = call.params;
    if (inputResponses === undefined && requestState === undefined) return undefined;
    const key = keyOf(call, requestState);
    const found = key === undefined ? undefined : this.#calls.get(key);
    if (key !== undefined) this.#calls.delete(key);
    return found;
  }

  /** No call is continued any more. */
  close(): void {
    for (const call of this.#calls.values()) this.#onLost(call);
    this.#calls.clear();
  }
}
