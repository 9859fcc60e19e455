import type { Readable, Writable } from "node:stream";
import { createDeferred, type Deferred, newlineCodec } from "@harnesskit/wire";
import { isPlainObject } from "@harnesskit/wire/json";
import { messageOf, Unmet } from "../errors.ts";
import type { RunningModule } from "./target-spec.ts";

/** What an operation of a client came to. */
export type Outcome = { readonly result: unknown } | { readonly error: unknown };

/** Has a target do what its user would. */
export interface Driver {
  do(operation: string, params: unknown): Promise<Outcome>;
}

/** The driver of a module. */
export const createModuleDriver = (module: RunningModule): Driver => ({
  do: (operation, params) =>
    (module.do?.(operation, params) ?? Promise.reject(new Unmet("the target has no driver"))).then(
      (result) => ({ result }),
      (error: unknown) => ({ error: { ...(error as object), message: messageOf(error) } }),
    ),
});

/**
 * The driver of a command: a line `{"id", "do", "params"}` on its standard input, and a line `{"id", "result"}` or
 * `{"id", "error": {"code", "message"}}` on its standard output, in any order.
 */
export const createLineDriver = (
  input: Readable,
  output: Writable,
  exited: Promise<{ reason: string }>,
): Driver => {
  const pending = new Map<number, Deferred<Outcome>>();
  const decoder = newlineCodec().createDecoder();
  let lastId = 0;
  let end: string | undefined;
  input.on("data", (chunk: Uint8Array) => {
    for (const line of decoder.push(chunk)) {
      if (!isPlainObject(line)) continue;
      const { id, ...outcome } = line as Record<string, unknown>;
      pending
        .get(id as number)
        ?.resolve("error" in outcome ? { error: outcome.error } : { result: outcome.result });
      pending.delete(id as number);
    }
  });
  void exited.then(({ reason }) => {
    end = reason;
    for (const each of pending.values()) each.resolve({ error: { code: "driver_ended", message: reason } });
    pending.clear();
  });
  return {
    do(operation, params) {
      if (end !== undefined) return Promise.resolve({ error: { code: "driver_ended", message: end } });
      lastId += 1;
      const deferred = createDeferred<Outcome>();
      pending.set(lastId, deferred);
      output.write(`${JSON.stringify({ id: lastId, do: operation, params })}\n`);
      return deferred.promise;
    },
  };
};
