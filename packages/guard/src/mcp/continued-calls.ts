import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { BoundedMap, callSafely } from "@harnesskit/wire";
import { canonicalJson } from "@harnesskit/wire/json";
import type { ToolCall } from "./tool-call.ts";

const keyOf = ({ name, arguments: args }: ToolCall, state: JsonValue | undefined): string =>
  canonicalJson([name, args, state ?? null]);

/** Calls that the server has answered with a question (`input_required`); the client repeats each with its answer, once. */
export class ContinuedCalls {
  /** What the harness put in the place of a call's arguments; undefined where it changed nothing. */
  readonly #changed = new BoundedMap<string, JsonObject | undefined>({ maxSize: 256 });

  /** The result of a call that was decided, and the arguments that the server was sent. */
  note(call: ToolCall, sent: JsonObject, result: JsonObject): void {
    if (result.resultType !== "input_required") return;
    const changed = sent === call.arguments ? undefined : sent;
    callSafely(() => this.#changed.set(keyOf(call, result.requestState), changed));
  }

  /** The arguments that the server is sent for a call that was decided, which is taken out; undefined for any other call. */
  take(call: ToolCall): JsonObject | undefined {
    const { requestState, inputResponses } = call.params;
    if (inputResponses === undefined) return undefined;
    const key = keyOf(call, requestState);
    const changed = this.#changed.get(key);
    return this.#changed.delete(key) ? (changed ?? call.arguments) : undefined;
  }
}
