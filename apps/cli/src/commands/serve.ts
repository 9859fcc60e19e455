import { type ConnectOptions, createThreadServer, type ThreadServer } from "@harnesskit/thread-server";
import { createAiSdkRunner } from "@harnesskit/thread-server/ai-sdk";
import { createDirectoryResolver, createFileThreadStore } from "@harnesskit/thread-server/node";
import { type Channel, createDeferred } from "@harnesskit/wire";
import { createWorkspaceTools } from "@harnesskit/workspace-agent";
import { logFailure } from "../debug.ts";
import { ExitCode } from "../exit-code.ts";
import { checkedModel } from "../model-option.ts";
import { agents } from "../serve/agents.ts";
import { createModelChooser } from "../serve/model-chooser.ts";
import { createModelLimit } from "../serve/model-limit.ts";
import { openSocketListeners } from "../serve/socket-listeners.ts";
import { onStopSignals } from "../serve/stop-signals.ts";
import { oneLine } from "../terminal/one-line.ts";
import { harnessDirectory, workspaceDirectory } from "../workspace-directory.ts";

export interface ServeOptions {
  readonly cwd: string;
  /** The model of a turn that names none. */
  readonly model: string;
  /** Endpoints (`unix:PATH`) beside standard input and output. @default none */
  readonly listen?: readonly string[];
  /** What clients of `listen` may choose beside `model`. @default nothing */
  readonly allowModel?: readonly string[];
}

/**
 * `harness serve`: the thread protocol on standard input and output. Ends with the input, once what was asked is
 * answered and its turns have ended or wait for an approval; with a signal; or when the parent process is gone. With
 * `listen` it serves sockets as well, and ends with a signal only. Takes the channel, not yet started, so that it can be
 * opened before all of this is loaded; none where standard input is a terminal.
 */
export const serve = async (options: ServeOptions, channel: Channel | undefined): Promise<ExitCode> => {
  const { cwd, model, listen = [], allowModel = [] } = options;
  const defaultModel = checkedModel(model);
  const allowed = allowModel.map((spec) => checkedModel(spec, "--allow-model"));
  const workspace = await workspaceDirectory(cwd);
  const server = createThreadServer({
    store: createFileThreadStore({ root: harnessDirectory(workspace) }),
    resolveDirectory: createDirectoryResolver(workspace),
    runner: createAiSdkRunner({ model: createModelChooser({ defaultModel, env: process.env }) }),
    tools: createWorkspaceTools(),
    agents,
    onError: (error) => logFailure("harness serve", error),
  });
  if (listen.length > 0) {
    const limit = createModelLimit([defaultModel, ...allowed]);
    return serveSockets(server, { endpoints: listen, limit }, channel);
  }
  if (channel === undefined) return ExitCode.done;
  const ignoreSignals = onStopSignals(() => void server.close());
  server.connect(channel);
  const { error } = await channel.closed;
  await server.close();
  ignoreSignals();
  if (error === undefined) return ExitCode.done;
  logFailure("harness serve", error);
  return ExitCode.failed;
};

/**
 * Serves until a signal. Who started this process may choose any model, who comes by a socket those of the `limit`. The end of
 * standard input, or of who started this process, is only the end of one client.
 */
const serveSockets = async (
  server: ThreadServer,
  { endpoints, limit }: { endpoints: readonly string[]; limit: ConnectOptions },
  channel: Channel | undefined,
): Promise<ExitCode> => {
  const stopped = createDeferred<void>();
  const ignoreSignals = onStopSignals(() => stopped.resolve());
  try {
    const listeners = await openSocketListeners(endpoints, (accepted) => server.connect(accepted, limit));
    if (channel) server.connect(channel);
    process.stderr.write(`harness serve: listening on ${oneLine(listeners.endpoints.join(" "), 2000)}\n`);
    await stopped.promise;
    // The clients hear how their turns end before the sockets close.
    await server.close();
    await listeners.close();
  } finally {
    await server.close();
    ignoreSignals();
  }
  return ExitCode.done;
};
