import { THREAD_PROTOCOL_VERSION, type ThreadMethodResult } from "@harnesskit/protocol/threads";
import type { RequestOptions } from "@harnesskit/wire";
import type { ThreadClientOptions } from "./client-options.ts";
import type { Connection } from "./connection.ts";
import { defined } from "./defined.ts";
import { VersionMismatchError } from "./errors.ts";
import { parseResult } from "./validation.ts";

/** What a server says of itself. */
export type Initialized = ThreadMethodResult<"initialize">;

/** What is known of the server before it has answered `initialize`. */
export const unknownServer: Initialized = {
  version: "",
  capabilities: { threads: false, turns: false, approvals: false, streaming: false, persistence: false },
};

const majorOf = (version: string): string | undefined => /^(\d{1,9})\.\d/.exec(version)?.[1];

/** Introduces the client. Rejects with `version_mismatch` and the errors of a call. */
export const initialize = async (
  connection: Connection,
  clientInfo: ThreadClientOptions["clientInfo"],
  options: RequestOptions,
): Promise<Initialized> => {
  const params = clientInfo
    ? { clientInfo: defined({ name: clientInfo.name, version: clientInfo.version }) }
    : {};
  const parse = (result: unknown) => parseResult("initialize", result);
  const server = await connection.call("initialize", params, parse, options);
  if (majorOf(server.version) !== majorOf(THREAD_PROTOCOL_VERSION)) {
    throw new VersionMismatchError(server.version, THREAD_PROTOCOL_VERSION);
  }
  return server;
};
