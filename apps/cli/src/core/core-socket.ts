import { randomBytes } from "node:crypto";
import { readFile, rm } from "node:fs/promises";
import type { RunningCore } from "@harnesskit/core-runtime";
import { type CoreClient, createCoreClient, createCoreServer } from "@harnesskit/core-runtime/remote";
import { readOwnFile, writeFileAtomic } from "@harnesskit/node-kit";
import { createUnixListener, createUnixTransport } from "@harnesskit/transport-uds";
import { HarnessError } from "@harnesskit/wire";
import { workspaceCoreLimits } from "@harnesskit/workspace-agent/declarations";
import { unavailableError } from "../cli-error.ts";
import { socketPathOf, toSocketFailure } from "../endpoint.ts";
import { thisUser } from "./core-files.ts";

const { maxFrameBytes } = workspaceCoreLimits;
const maxTokenBytes = 512;
const connectTimeoutMs = 5_000;

/** Beside the socket, closed to others like it. */
const tokenFileOf = (path: string): string => `${path}.token`;

/**
 * Lets the processes of this user use a core: on a socket that only they reach, with the token of a private file beside it.
 * Their calls are those of `agent:harness.remote` for this user. Returns what ends that. Rejects with a `CliError`.
 */
export const openCoreSocket = async (
  endpoint: string,
  core: RunningCore,
  version: string,
  onError: (error: unknown) => void,
): Promise<() => Promise<void>> => {
  const path = socketPathOf(endpoint, "--serve");
  const tokenFile = tokenFileOf(path);
  const token = randomBytes(32).toString("base64url");
  const actor = { type: "human", id: thisUser() } as const;
  const server = createCoreServer({
    core,
    version,
    clients: [{ token, caller: { type: "agent", id: "harness.remote" }, actor }],
    onError,
  });
  const toFailure = (error: unknown) =>
    toSocketFailure(error, "--serve", { whenInUse: "Use the core that is there: --agents unix:PATH" });
  try {
    const listener = createUnixListener({ path, maxFrameBytes, onError });
    await listener.listen((channel) => server.connect(channel));
    const close = async () => {
      await server.close();
      await listener.close();
      // Another core may have its own there by now.
      const found = await readFile(tokenFile, "utf8").catch(() => undefined);
      if (found === token) await rm(tokenFile, { force: true });
    };
    await writeFileAtomic(tokenFile, token).catch(async (error: unknown) => {
      await close();
      throw error;
    });
    return close;
  } catch (error) {
    throw toFailure(error);
  }
};

/** Connects to a core of `harness core --serve`. Rejects with a `CliError` `core_unavailable`. */
export const connectCore = async (
  endpoint: string,
  onError: (error: unknown) => void,
): Promise<CoreClient> => {
  const path = socketPathOf(endpoint, "--agents");
  const client = createCoreClient({
    transport: createUnixTransport({ path, maxFrameBytes }),
    token: async () => (await readOwnFile(tokenFileOf(path), { maxBytes: maxTokenBytes })).toString("utf8"),
    requestTimeoutMs: connectTimeoutMs,
    onError,
  });
  try {
    await client.connect();
    return client;
  } catch (cause) {
    await client.close();
    const why = HarnessError.isInstance(cause) ? cause.message : "its token cannot be read";
    throw unavailableError("core_unavailable", `--agents ${endpoint}: ${why}`, {
      hint: { to: "Start the core", run: `harness core --agent DIR --serve ${endpoint}` },
      cause,
    });
  }
};
