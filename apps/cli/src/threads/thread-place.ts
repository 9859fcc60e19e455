import { ThreadErrorCode } from "@harnesskit/protocol/threads";
import { createThreadClient, type ThreadClient, UnsupportedError } from "@harnesskit/thread-client";
import { createThreadServer, TurnError } from "@harnesskit/thread-server";
import { createFileThreadStore } from "@harnesskit/thread-server/node";
import { createUnixTransport } from "@harnesskit/transport-uds";
import { displayText, ProtocolError, type Transport } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";
import { createMemoryPair } from "@harnesskit/wire/testing";
import { CliError, unavailableError, usageError } from "../cli-error.ts";
import { socketPathOf, toSocketFailure } from "../endpoint.ts";
import { io } from "../io.ts";
import { keptWorkspace } from "../kept-workspace.ts";
import { threadNotFound } from "../run/failures.ts";
import { grantKeyPath, harnessDirectory } from "../workspace-directory.ts";
import { servedThreadId, storedThreadId } from "./thread-ids.ts";

/** Where threads are: below a directory, or at a server that runs. */
export interface PlaceOptions {
  readonly cwd?: string | undefined;
  readonly attach?: string | undefined;
}

/** A server of the threads of a directory, without an agent: what waits in them, or was left in the middle, stays as it is. */
const serveDirectory = (workspace: string) =>
  createThreadServer({
    store: createFileThreadStore({ root: harnessDirectory(workspace), grantKeyPath: grantKeyPath() }),
    runner: { run: () => Promise.reject(new TurnError("server_closed", "There is no agent here.")) },
    resumeQueues: "never",
  });

/**
 * Works on threads where they are, one of which may be named by the beginning of its id; `work` gets the whole id. Rejects with a `CliError` that says what to
 * do.
 */
export const withThreads = async <T>(
  threadId: string | undefined,
  { cwd = io().cwd(), attach }: PlaceOptions,
  work: (client: ThreadClient, threadId: string) => Promise<T>,
): Promise<T> => {
  let id = threadId ?? "";
  const callServer = async (transport: Transport) => {
    const client = createThreadClient({
      transport,
      reconnect: false,
      clientInfo: { name: "harness threads" },
    });
    await client.connect();
    try {
      if (id !== "" && attach !== undefined) id = await servedThreadId(client, id);
      return await work(client, id);
    } finally {
      await client.close();
    }
  };
  try {
    if (attach !== undefined)
      return await callServer(createUnixTransport({ path: socketPathOf(attach, "--attach") }));
    const workspace = await keptWorkspace(cwd);
    id = await storedThreadId(workspace, id);
    const server = serveDirectory(workspace);
    const connect = async () => {
      const pair = createMemoryPair();
      server.connect(pair.server);
      return pair.client;
    };
    try {
      return await callServer({ connect });
    } finally {
      await server.close();
    }
  } catch (error) {
    throw attach === undefined
      ? toCliFailure(error, id, cwd)
      : toCliFailure(toSocketFailure(error, "--attach"), id);
  }
};

/** @param cwd where the thread was looked for; undefined for a server */
const toCliFailure = (error: unknown, threadId: string, cwd?: string): unknown => {
  if (CliError.isInstance(error)) return error;
  if (UnsupportedError.isInstance(error)) {
    const message = `The server cannot do this: ${displayText(error.message, { maxLength: 300 })}`;
    return unavailableError("unsupported", message, {
      hint: "It must be a harness serve of this version",
      cause: error,
    });
  }
  if (!ProtocolError.isInstance(error)) return error;
  const reason = isObject(error.data) ? error.data.reason : undefined;
  if (reason === "thread_locked" && cwd !== undefined) {
    return new CliError("thread_locked", `${threadId} is in use by a server`, {
      hint: {
        to: "Ask that server: the same command with --attach unix:PATH. To find it",
        run: "harness doctor",
      },
      cause: error,
    });
  }
  if (error.rpcCode === ThreadErrorCode.ThreadNotFound) {
    if (cwd !== undefined) return threadNotFound(threadId, cwd, error);
    return new CliError("thread_not_found", `The server has no thread ${threadId}`, { cause: error });
  }
  if (error.rpcCode === ThreadErrorCode.TurnBusy) {
    return new CliError("turn_busy", displayText(error.message, { maxLength: 300 }), {
      hint: "Try again when the turn has ended",
      cause: error,
    });
  }
  const message = displayText(error.message, { maxLength: 300 });
  if (error.code === "invalid_params") return usageError(message);
  return typeof reason === "string" ? new CliError(reason, message, { cause: error }) : error;
};
