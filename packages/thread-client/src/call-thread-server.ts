import type { ThreadMethodName, ThreadMethodResult } from "@harnesskit/protocol/threads";
import type { SessionCallOptions } from "@harnesskit/wire/rpc";
import { withTraceMeta } from "@harnesskit/wire/trace";
import { toThreadError } from "./errors.ts";
import { type CallResult, parseResult } from "./validation.ts";

/** What a server says of itself. */
export type Initialized = ThreadMethodResult<"initialize">;

/** The params of a method; what is undefined in them is left out. */
export type Fields = Readonly<Record<string, unknown>>;

/** Where a method can be called: a connection, or a session. */
type Callable = {
  request(method: string, params: unknown, options?: SessionCallOptions): Promise<unknown>;
};

/** Calls a method and checks its result. Rejects with a `ThreadError`, and as the connection or session. */
export const callThreadServer = async <M extends ThreadMethodName>(
  server: Callable,
  method: M,
  params: Fields,
  options?: SessionCallOptions,
): Promise<CallResult<M>> => {
  const result = await server.request(method, withTraceMeta(params), options).catch((error: unknown) => {
    throw toThreadError(error);
  });
  return parseResult(method, result);
};
