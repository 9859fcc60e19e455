import type { WhenBusy } from "@harnesskit/protocol/threads";
import { createThreadServer, type ThreadStore } from "@harnesskit/thread-server";
import {
  createDirectoryResolver,
  createFileThreadStore,
  type FileThreadStoreOptions,
} from "@harnesskit/thread-server/node";
import { type Channel, createDeferred } from "@harnesskit/wire";
import { openAgentCore } from "../agents/agent-core.ts";
import { openNamedAuditLog } from "../audit/audit-logs.ts";
import { ExitCode, logFailure, usageError } from "../cli-error.ts";
import { onStopSignals } from "../interruption.ts";
import { toLocation } from "../store/location.ts";
import {
  noPolicyText,
  type PolicyChoice,
  type PolicyOptions,
  toPolicyChoice,
} from "../supervision/policy-choice.ts";
import { openSupervision, type Supervision } from "../supervision/supervision.ts";
import { oneLine } from "../terminal/text.ts";
import { withCleanup } from "../with-cleanup.ts";
import { harnessDirectory, workspaceDirectory } from "../workspace-directory.ts";
import { agents, createLazyRunner } from "./agent-loop.ts";
import { ClientFaults } from "./client-faults.ts";
import { checkedModel, contextOf, createModelChooser, createModelLimit } from "./models.ts";
import { openSocketListeners } from "./socket-listeners.ts";

const maxTold = 20;

export interface ServeOptions extends PolicyOptions {
  readonly cwd: string;
  readonly model: string;
  /** Endpoints (`unix:PATH`) beside standard input and output. @default none */
  readonly listen?: readonly string[];
  /** What clients of `listen` may choose beside `model`. @default nothing */
  readonly allowModel?: readonly string[];
  /** Agents whose tools the model can use, beside the workspace tools. @default none */
  readonly agents?: readonly string[];
  /** False leaves out the agents that are installed and enabled. @default true */
  readonly installedAgents?: boolean;
  /** The audit log of tool calls; without it the server does not start. @default one in the user's state directory */
  readonly audit?: string;
  /** What happens to a prompt that comes while a turn is active and says nothing itself. @default "reject" */
  readonly whenBusy?: WhenBusy;
  /** Where threads are kept. @default files below the workspace */
  readonly store?: string;
  readonly version: string;
}

/**
 * `harness serve`: the thread protocol on standard input and output, and with `listen` on sockets as well. Ends with its
 * input, once what was asked there is answered and its turns have ended or wait for an approval; with a signal; or,
 * without `listen`, when the parent process is gone. Takes the channel, not yet started; none for a service, which ends
 * with a signal only.
 */
export const serve = (options: ServeOptions, channel: Channel | undefined): Promise<ExitCode> =>
  withCleanup(async (defer) => {
    const { model, listen = [], allowModel = [], version } = options;
    const choice = toPolicyChoice(options);
    const workspace = await workspaceDirectory(options.cwd);
    const defaultModel = checkedModel(model);
    const allowed = allowModel.map((spec) => checkedModel(spec, "--allow-model"));
    const faults = new ClientFaults("harness serve", (line) => process.stderr.write(`${line}\n`));
    defer(() => faults.end());
    const stopped = createDeferred<unknown>();
    defer(onStopSignals(() => stopped.resolve(undefined)));
    const supervision = await supervise(choice, workspace, options);
    defer(() => supervision?.close());
    const audit = options.audit === undefined ? undefined : (await openNamedAuditLog(options.audit)).sink;
    defer(() => audit?.close());
    const core = await openAgentCore({
      command: "serve",
      version,
      models: [defaultModel, ...allowed],
      agents: options.agents,
      installedAgents: options.installedAgents,
      audit,
    });
    defer(() => core.close());
    const runner = createLazyRunner({
      model: createModelChooser({ defaultModel, env: process.env }),
      onWorking: () => void core.start(),
      onRetry: (reason) => note(`the model is asked again: ${oneLine(reason, 1000)}`),
      ...contextOf(process.env),
    });
    const { store, close } = await openThreads(options.store, workspace);
    defer(close);
    const server = createThreadServer({
      store,
      resolveDirectory: createDirectoryResolver(workspace),
      runner,
      tools: (listing) => core.tools(listing),
      agents,
      // A server that is there for one client does not begin what others left.
      resumeQueues: "use",
      whenBusy: options.whenBusy || undefined,
      ...supervision?.seams,
      onError: faults.tell,
    });
    // Clients of sockets choose among these models only, the client of the channel any.
    const limit = createModelLimit([defaultModel, ...allowed]);
    const accept = (accepted: Channel) => void server.connect(faults.watch(accepted), limit);
    const listeners = await openSocketListeners(listen, accept, tellGone, (error) =>
      note(oneLine(error.message, 500)),
    );
    defer(() => listeners.close());
    // Clients are notified of how their turns end before the sockets close.
    defer(() => server.close());
    if (channel) {
      server.connect(faults.watch(channel));
      void channel.closed.then((end) => stopped.resolve(end.error));
    }
    runner.load();
    if (listen.length > 0) void server.resume();
    if (listen.length > 0) note(`listening on ${oneLine(listeners.endpoints.join(" "), 2000)}`);
    const error = await stopped.promise;
    if (error === undefined) return ExitCode.done;
    logFailure("harness serve", error);
    return ExitCode.failed;
  });

/** Where threads are kept: files of the workspace, or a database that several servers share. */
const openThreads = async (
  given: string | undefined,
  workspace: string,
): Promise<{ readonly store: ThreadStore; readonly close: () => Promise<void> }> => {
  if (given === undefined) {
    const store = createFileThreadStore({ root: harnessDirectory(workspace), onError: toldOnce() });
    return { store, close: () => store.close() };
  }
  const location = toLocation(given);
  if (location.kind !== "postgres") {
    throw usageError(
      "--store: threads are kept in PostgreSQL, or without --store in files",
      "For example: --store postgres:",
    );
  }
  const { openPostgres } = await import("../store/open.ts");
  const { threads, close } = await openPostgres(location, "harness serve");
  return { store: threads, close };
};

const toldOnce = (): NonNullable<FileThreadStoreOptions["onError"]> => {
  const told = new Set<string>();
  return (error, { threadId }) => {
    if (told.has(threadId) || told.size >= maxTold) return;
    told.add(threadId);
    logFailure(`harness serve: left out of the list: ${oneLine(threadId, 80)}`, error);
  };
};

const note = (line: string) => void process.stderr.write(`harness serve: ${line}\n`);

const supervise = async (
  choice: PolicyChoice,
  workspace: string,
  { version, policyTimeout }: ServeOptions,
): Promise<Supervision | undefined> => {
  if (choice.kind === "none") {
    note(noPolicyText);
    return undefined;
  }
  const timeoutMs = policyTimeout === undefined ? undefined : Math.round(policyTimeout * 1000);
  return openSupervision({ choice, workspace, version, timeoutMs, note });
};

const tellGone = (endpoint: string): void =>
  note(
    `the socket of ${oneLine(endpoint, 1000)} was removed or replaced: new clients cannot reach this server, ` +
      "those that are connected stay. End it with SIGTERM or Ctrl-C, and start it again",
  );
