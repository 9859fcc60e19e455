import { type ConnectOptions, createThreadServer, type ThreadServer } from "@harnesskit/thread-server";
import { createDirectoryResolver, createFileThreadStore } from "@harnesskit/thread-server/node";
import { type Channel, createDeferred } from "@harnesskit/wire";
import { workspaceTools } from "@harnesskit/workspace-agent/declarations";
import { logFailure } from "../debug.ts";
import { ExitCode } from "../exit-code.ts";
import { checkedModel } from "../model-option.ts";
import { agents } from "../serve/agents.ts";
import { openNamedAuditLog } from "../serve/audit-log.ts";
import { ClientFaults } from "../serve/client-faults.ts";
import { createLazyRunner, type LazyRunner } from "../serve/lazy-runner.ts";
import { createModelChooser } from "../serve/model-chooser.ts";
import { createModelLimit } from "../serve/model-limit.ts";
import { createRuntimeTools } from "../serve/runtime-tools.ts";
import { openSocketListeners } from "../serve/socket-listeners.ts";
import { onStopSignals } from "../serve/stop-signals.ts";
import type { ToolHost } from "../serve/tool-host.ts";
import { createWorkspaceHost } from "../serve/workspace-host.ts";
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
  /** The audit log of tool calls; without it the server does not start. @default one in the user's state directory */
  readonly audit?: string;
  /** Of this program. */
  readonly version: string;
}

/**
 * `harness serve`: the thread protocol on standard input and output. Ends with the input, once what was asked is
 * answered and its turns have ended or wait for an approval; with a signal; or when the parent process is gone. With
 * `listen` it serves sockets as well, and ends with a signal only. Takes the channel, not yet started, so that it can be
 * opened before all of this is loaded; none where standard input is a terminal.
 */
export const serve = async (options: ServeOptions, channel: Channel | undefined): Promise<ExitCode> => {
  const { cwd, model, listen = [], allowModel = [], version } = options;
  const defaultModel = checkedModel(model);
  const allowed = allowModel.map((spec) => checkedModel(spec, "--allow-model"));
  const workspace = await workspaceDirectory(cwd);
  const audit = options.audit === undefined ? undefined : await openNamedAuditLog(options.audit);
  const host = createWorkspaceHost({ version, audit });
  const runner = createLazyRunner(createModelChooser({ defaultModel, env: process.env }));
  const faults = new ClientFaults("harness serve", (line) => process.stderr.write(`${line}\n`));
  const server = createThreadServer({
    store: createFileThreadStore({ root: harnessDirectory(workspace) }),
    resolveDirectory: createDirectoryResolver(workspace),
    runner,
    tools: createRuntimeTools(workspaceTools, host),
    agents,
    onError: faults.tell,
  });
  try {
    if (listen.length > 0) {
      const limit = createModelLimit([defaultModel, ...allowed]);
      return await serveSockets({ server, host, runner, faults }, { endpoints: listen, limit }, channel);
    }
    return channel === undefined
      ? ExitCode.done
      : await serveChannel({ server, host, runner, faults }, channel);
  } finally {
    faults.end();
    await audit?.close();
  }
};

/** A server, the process of its tools, its agent loop, and where it is said what its clients do wrong. */
interface Served {
  readonly server: ThreadServer;
  readonly host: ToolHost;
  readonly runner: LazyRunner;
  readonly faults: ClientFaults;
}

/** Clients are served already: the tools' process starts, and while it does the rest is loaded. */
const warmUp = async ({ host, runner }: Served): Promise<void> => {
  await host.start();
  runner.load();
};

/** Ends the turns, and then what ran their tools. */
const close = async ({ server, host }: Served): Promise<void> => {
  await server.close();
  await host.close();
};

const serveChannel = async (served: Served, channel: Channel): Promise<ExitCode> => {
  const { server, faults } = served;
  const ignoreSignals = onStopSignals(() => void server.close());
  try {
    server.connect(faults.watch(channel));
    void warmUp(served);
    const { error } = await channel.closed;
    if (error === undefined) return ExitCode.done;
    logFailure("harness serve", error);
    return ExitCode.failed;
  } finally {
    await close(served);
    ignoreSignals();
  }
};

const tellGone = (endpoint: string): void => {
  process.stderr.write(
    `harness serve: the socket of ${oneLine(endpoint, 1000)} was removed or replaced: new clients cannot reach this server, ` +
      "those that are connected stay. End it with SIGTERM or Ctrl-C, and start it again\n",
  );
};

/**
 * Serves until a signal. Who started this process may choose any model, who comes by a socket those of the `limit`. The end of
 * standard input, or of who started this process, is only the end of one client.
 */
const serveSockets = async (
  served: Served,
  { endpoints, limit }: { endpoints: readonly string[]; limit: ConnectOptions },
  channel: Channel | undefined,
): Promise<ExitCode> => {
  const { server, faults } = served;
  const stopped = createDeferred<void>();
  const ignoreSignals = onStopSignals(() => stopped.resolve());
  try {
    const listeners = await openSocketListeners(endpoints, {
      accept: (accepted) => server.connect(faults.watch(accepted), limit),
      onGone: tellGone,
    });
    if (channel) server.connect(faults.watch(channel));
    void warmUp(served);
    process.stderr.write(`harness serve: listening on ${oneLine(listeners.endpoints.join(" "), 2000)}\n`);
    await stopped.promise;
    // The clients hear how their turns end before the sockets close.
    await server.close();
    await listeners.close();
  } finally {
    await close(served);
    ignoreSignals();
  }
  return ExitCode.done;
};
