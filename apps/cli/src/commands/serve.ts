import { type ConnectOptions, createThreadServer, type ThreadServer } from "@harnesskit/thread-server";
import {
  createDirectoryResolver,
  createFileThreadStore,
  type FileThreadStoreOptions,
} from "@harnesskit/thread-server/node";
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
import { checkPolicyFile } from "../supervision/check-policy-file.ts";
import { openSupervision } from "../supervision/open-supervision.ts";
import { defaultPolicyName, noPolicyText, type PolicyOptions } from "../supervision/policy-choice.ts";
import type { StartedPolicy } from "../supervision/start-policy.ts";
import type { Supervision } from "../supervision/supervision.ts";
import { oneLine } from "../terminal/one-line.ts";
import { harnessDirectory } from "../workspace-directory.ts";

/** How many threads that cannot be read are named. */
const maxTold = 20;

export interface ServeOptions extends PolicyOptions {
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
 * `harness serve`: the thread protocol on standard input and output, and with `listen` on sockets as well. Ends with its
 * input, once what was asked there is answered and its turns have ended or wait for an approval; with a signal; or,
 * without `listen`, when the parent process is gone. Takes the policy, whose process is starting, and the channel, not
 * yet started, so that both can be begun before all of this is loaded; no channel for a service, which ends with a
 * signal only.
 */
export const serve = async (
  options: ServeOptions,
  starting: Promise<StartedPolicy>,
  channel: Channel | undefined,
): Promise<ExitCode> => {
  const policy = await starting;
  try {
    return await serveUnder(policy, options, channel);
  } finally {
    // Who ends now does not wait for a process that nobody spoke to: it ends with its input.
    void policy.process?.discard();
  }
};

const serveUnder = async (
  policy: StartedPolicy,
  options: ServeOptions,
  channel: Channel | undefined,
): Promise<ExitCode> => {
  const { model, listen = [], allowModel = [], version } = options;
  const defaultModel = checkedModel(model);
  const allowed = allowModel.map((spec) => checkedModel(spec, "--allow-model"));
  const { choice, workspace } = policy;
  const policyName = (await checkPolicyFile(choice, note)) ?? defaultPolicyName;
  const supervision = await supervise(policy, policyName, options);
  const audit = options.audit === undefined ? undefined : await openNamedAuditLog(options.audit);
  const host = createWorkspaceHost({ version, audit });
  const runner = createLazyRunner(createModelChooser({ defaultModel, env: process.env }));
  const faults = new ClientFaults("harness serve", (line) => process.stderr.write(`${line}\n`));
  const server = createThreadServer({
    store: createFileThreadStore({ root: harnessDirectory(workspace), onError: toldOnce() }),
    resolveDirectory: createDirectoryResolver(workspace),
    runner,
    tools: createRuntimeTools(workspaceTools, host),
    agents,
    ...supervision?.seams,
    onError: faults.tell,
  });
  const served = { server, host, runner, faults, supervision };
  try {
    if (listen.length > 0) {
      const limit = createModelLimit([defaultModel, ...allowed]);
      return await serveSockets(served, { endpoints: listen, limit }, channel);
    }
    return channel === undefined ? ExitCode.done : await serveChannel(served, channel);
  } finally {
    faults.end();
    await supervision?.close();
    await audit?.close();
  }
};

/** Says of each thread that cannot be read once that a list leaves it out. */
const toldOnce = (): NonNullable<FileThreadStoreOptions["onError"]> => {
  const told = new Set<string>();
  return (error, { threadId }) => {
    if (told.has(threadId) || told.size >= maxTold) return;
    told.add(threadId);
    logFailure(`harness serve: left out of the list: ${oneLine(threadId, 80)}`, error);
  };
};

/** A server, the process of its tools, its agent loop, and where it is said what its clients do wrong. */
interface Served {
  readonly server: ThreadServer;
  readonly host: ToolHost;
  readonly runner: LazyRunner;
  readonly faults: ClientFaults;
  /** Who judges; undefined for nobody. */
  readonly supervision: Supervision | undefined;
}

const note = (line: string) => void process.stderr.write(`harness serve: ${line}\n`);

/** Starts who judges. Where nobody does, that is said. */
const supervise = async (
  { choice, process: policy }: StartedPolicy,
  name: string,
  { version, policyTimeout }: ServeOptions,
): Promise<Supervision | undefined> => {
  if (choice.kind === "none") {
    note(noPolicyText);
    return undefined;
  }
  const timeoutMs = policyTimeout === undefined ? undefined : Math.round(policyTimeout * 1000);
  return openSupervision({
    choice,
    process: policy,
    policyName: choice.kind === "child" ? name : undefined,
    version,
    timeoutMs,
    note,
  });
};

/** Clients are served already. What a first prompt waits for comes first: who judges it, and the agent; then the tools. */
const warmUp = async ({ host, runner, supervision }: Served): Promise<void> => {
  runner.load();
  await supervision?.whenReady();
  await host.start();
};

/** Ends the turns, and then what ran and judged their tools. */
const close = async ({ server, host, supervision }: Served): Promise<void> => {
  await server.close();
  await Promise.all([host.close(), supervision?.close()]);
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
 * Serves until a signal, or until the input of the `channel` has ended. The client of the channel may choose any model,
 * those of the sockets the ones of the `limit`.
 */
const serveSockets = async (
  served: Served,
  { endpoints, limit }: { endpoints: readonly string[]; limit: ConnectOptions },
  channel: Channel | undefined,
): Promise<ExitCode> => {
  const { server, faults } = served;
  const stopped = createDeferred<unknown>();
  const ignoreSignals = onStopSignals(() => stopped.resolve(undefined));
  let error: unknown;
  try {
    const listeners = await openSocketListeners(endpoints, {
      accept: (accepted) => server.connect(faults.watch(accepted), limit),
      onGone: tellGone,
    });
    if (channel) {
      server.connect(faults.watch(channel));
      void channel.closed.then((end) => stopped.resolve(end.error));
    }
    void warmUp(served);
    process.stderr.write(`harness serve: listening on ${oneLine(listeners.endpoints.join(" "), 2000)}\n`);
    error = await stopped.promise;
    // Clients are notified of how their turns end before the sockets close.
    await server.close();
    await listeners.close();
  } finally {
    await close(served);
    ignoreSignals();
  }
  if (error === undefined) return ExitCode.done;
  logFailure("harness serve", error);
  return ExitCode.failed;
};
