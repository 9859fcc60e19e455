import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { BoundedSet, callSafely } from "@harnesskit/wire";
import { canonicalJson } from "@harnesskit/wire/json";
import type { ToolCall } from "./tool-call.ts";

const keyOf = ({ name, arguments: args }: ToolCall, state: JsonValue | undefined): string =>
  canonicalJson([name, args, state ?? null]);

/** Calls that the server has answered with a question (`input_required`); the client repeats each with its answer, once. */
export class ContinuedCalls {
  readonly #keys = new BoundedSet<string>({ maxSize: 256 });

  /** The result of a call that was decided. */
  note(call: ToolCall, result: JsonObject): void {
    if (result.resultType !== "input_required") return;
    callSafely(() => this.#keys.add(keyOf(call, result.requestState)));
  }

  /** Whether the call is one that was decided, and takes it out. */
  take(call: ToolCall): boolean {
    const { requestState, inputResponses } = call.params;
    if (inputResponses === undefined) return false;
    return this.#keys.delete(keyOf(call, requestState));
  }
}
