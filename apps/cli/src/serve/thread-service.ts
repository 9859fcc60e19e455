import { startOfCall } from "@harnesskit/approvals";
import type { WhenBusy } from "@harnesskit/protocol/threads";
import { createThreadServer, type ThreadServer, type ThreadStore } from "@harnesskit/thread-server";
import {
  createDirectoryResolver,
  createFileThreadStore,
  type FileThreadStoreOptions,
} from "@harnesskit/thread-server/node";
import { type AgentCore, type AgentsOptions, openAgentCore } from "../agents/agent-core.ts";
import { openNamedAuditLog } from "../audit/audit-logs.ts";
import { describeFailure, usageError } from "../cli-error.ts";
import { io } from "../io.ts";
import { describeLocation, toLocation } from "../store/location.ts";
import { type PolicyOptions, toPolicyChoice } from "../supervision/policy-choice.ts";
import { openSupervision, type Supervision } from "../supervision/supervision.ts";
import { oneLine } from "../terminal/text.ts";
import { checkWritable, grantKeyPath, harnessDirectory, workspaceDirectory } from "../workspace-directory.ts";
import { agents, createLazyRunner } from "./agent-loop.ts";
import { hubControl } from "./hub-control.ts";
import { checkedModel, contextOf, createModelChooser } from "./models.ts";

const maxTold = 20;

export interface ThreadServiceOptions extends PolicyOptions, AgentsOptions {
  readonly cwd: string;
  readonly model: string;
  /** What clients may choose beside `model`. @default nothing */
  readonly allowModel?: readonly string[];
  /** The audit log of tool calls; without it the server does not start. @default one in the user's state directory */
  readonly audit?: string;
  /** What happens to a prompt that comes while a turn is active and says nothing itself. @default "reject" */
  readonly whenBusy?: WhenBusy;
  /** What becomes of a turn whose server ended in the middle of it. @default "report" */
  readonly interruptedTurns?: "report" | "retry" | undefined;
  /** Where threads are kept. @default files below the workspace */
  readonly store?: string;
  readonly version: string;
}

/** Where a thread server says what no client of it hears. */
export interface ServiceReports {
  /** What a user should know of agents and models: safe text. */
  note(line: string): void;
  /** What an operator of the server should know. */
  detail(line: string): void;
  /** What failed behind every client's back. */
  error(error: unknown): void;
}

/** A thread server of this process with its tools, its policy and its store. */
export interface ThreadService {
  readonly server: ThreadServer;
  /** Rejects where there is no such agent, or the default model cannot be used: with what a turn is refused with. */
  check(agent: string | undefined): Promise<void>;
  /** Every model that was named. */
  readonly models: readonly string[];
  /** The commands in the background that run, and end with it. */
  readonly runningCommands: AgentCore["runningCommands"];
  /** Where its threads are kept, without a secret. */
  readonly place: string;
}

/**
 * Opens a thread server; it has no client yet. What it holds is closed by `defer`, all but the server itself, which its owner closes
 * before. Rejects with a `CliError` for options and places that cannot be used.
 */
export const openThreadService = async (
  options: ThreadServiceOptions,
  reports: ServiceReports,
  defer: (cleanup: () => unknown) => void,
): Promise<ThreadService> => {
  const { allowModel = [], version } = options;
  const { note, detail } = reports;
  const workspace = await workspaceDirectory(options.cwd);
  const defaultModel = checkedModel(options.model);
  const allowed = allowModel.map((spec) => checkedModel(spec, "--allow-model"));
  if (options.store === undefined) await checkWritable(workspace);
  const supervision = await supervise(options, workspace, detail);
  defer(() => supervision?.close());
  const audit = options.audit === undefined ? undefined : (await openNamedAuditLog(options.audit)).sink;
  defer(() => audit?.close());
  const core = await openAgentCore({
    command: "serve",
    version,
    models: [defaultModel, ...allowed],
    ...{ agents: options.agents, installedAgents: options.installedAgents, passEnv: options.passEnv },
    ...{ audit, reports },
  });
  defer(() => core.close());
  const chooseModel = createModelChooser({ defaultModel, env: io().env });
  const runner = createLazyRunner({
    model: chooseModel,
    onWorking: () => void core.start(),
    notes: ({ thread: { threadId: conversation, directory } }) =>
      core.endedCommands({ conversation, directory }),
    onRetry: (reason) => note(`the model is asked again: ${reason}`),
    ...contextOf(io().env),
  });
  const { store, place, close } = await openThreads(options.store, workspace, detail);
  defer(close);
  const server = createThreadServer({
    store,
    resolveDirectory: createDirectoryResolver(workspace),
    runner,
    tools: (listing) => core.tools(listing),
    agents,
    startOf: startOfCall,
    // A server that is there for one client does not begin what others left.
    resumeQueues: "use",
    whenBusy: options.whenBusy || undefined,
    interruptedTurns: options.interruptedTurns,
    ...supervision?.seams,
    onError: reports.error,
  });
  supervision?.control(hubControl(server));
  runner.load();
  const check = async (agent: string | undefined): Promise<void> => {
    const names = agents.map(({ name }) => name);
    if (agent !== undefined && !names.includes(agent))
      throw usageError(
        `There is no agent ${oneLine(agent, 80)}`,
        `Use --agent with one of: ${names.join(", ")}`,
      );
    await chooseModel(undefined);
  };
  const models = [defaultModel, ...allowed];
  return { server, check, models, runningCommands: core.runningCommands, place };
};

/** Where threads are kept: files of the workspace, or a database that several servers share. */
const openThreads = async (
  given: string | undefined,
  workspace: string,
  note: (line: string) => void,
): Promise<{ readonly store: ThreadStore; readonly place: string; readonly close: () => Promise<void> }> => {
  if (given === undefined) {
    const root = harnessDirectory(workspace);
    const store = createFileThreadStore({
      root,
      grantKeyPath: grantKeyPath(),
      onError: toldOnce(note),
    });
    return { store, place: root, close: () => store.close() };
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
  return { store: threads, place: describeLocation(location), close };
};

const toldOnce = (note: (line: string) => void): NonNullable<FileThreadStoreOptions["onError"]> => {
  const told = new Set<string>();
  return (error, { threadId }) => {
    if (told.has(threadId) || told.size >= maxTold) return;
    told.add(threadId);
    note(describeFailure(`left out of the list: ${threadId}`, error));
  };
};

const supervise = async (
  options: ThreadServiceOptions,
  workspace: string,
  note: (line: string) => void,
): Promise<Supervision | undefined> => {
  const { version, policyTimeout } = options;
  const choice = toPolicyChoice(options);
  if (choice.kind === "none") return undefined;
  const timeoutMs = policyTimeout === undefined ? undefined : Math.round(policyTimeout * 1000);
  return openSupervision({ choice, workspace, version, timeoutMs, note });
};
