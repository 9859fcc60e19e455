import {
  THREAD_PROTOCOL_VERSION,
  type ThreadMethodName,
  type ThreadMethodResult,
} from "@harnesskit/protocol/threads";
import type { RpcConnection, SessionCallOptions } from "@harnesskit/wire/rpc";
import { withTraceMeta } from "@harnesskit/wire/trace";
import type { ThreadClientOptions } from "./client-options.ts";
import { toThreadError, VersionMismatchError } from "./errors.ts";
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

const majorVersion = (version: string): string | undefined => /^(\d{1,9})\.\d/.exec(version)?.[1];

/** Introduces the client. Rejects with `version_mismatch` and the errors of a call. */
export const initialize = async (
  connection: RpcConnection,
  clientInfo: ThreadClientOptions["clientInfo"],
  signal: AbortSignal,
): Promise<Initialized> => {
  const params = clientInfo ? { clientInfo: { name: clientInfo.name, version: clientInfo.version } } : {};
  const server = await callThreadServer(connection, "initialize", params, { signal });
  if (majorVersion(server.version) !== majorVersion(THREAD_PROTOCOL_VERSION))
    throw new VersionMismatchError(server.version, THREAD_PROTOCOL_VERSION);
  return server;
};
