import type { HubPlace } from "@harnesskit/hub/place";
import { costOf, toModelReference } from "@harnesskit/models";
import { ThreadErrorCode, type Usage } from "@harnesskit/protocol/threads";
import type { ThreadClient, TurnHandle } from "@harnesskit/thread-client";
import { ProtocolError } from "@harnesskit/wire";
import type { FollowedTurn } from "../attach/thread-follower.ts";
import { CliError, ExitCode, logFailure, refusedError, usageError } from "../cli-error.ts";
import type { Interrupts } from "../interruption.ts";
import { note } from "../terminal/terminal.ts";
import { promptTitle } from "../terminal/text.ts";
import { servedThreadId } from "../threads/thread-ids.ts";
import { useInHub } from "../timeline/judgements.ts";
import { logFile } from "../workspace-directory.ts";
import type { RunOptions } from "./run.ts";
import { toFileInput } from "./run-input.ts";
import { threadCommand } from "./run-output.ts";
import type { RunServer } from "./run-server.ts";
import { ThreadTerminal } from "./thread-terminal.ts";

/** A prompt in a thread that has its turns so far summarised, in place of a turn. */
const compactPrompt = "/compact";

export interface RunPlace {
  readonly version: string;
  readonly workspace: string;
  readonly server: RunServer;
  readonly noPolicy: boolean;
  /** The hub that judges. @default none */
  readonly hub: HubPlace | undefined;
  readonly interrupts: Interrupts;
  /** A turn that was interrupted and goes on as soon as the server has opened the thread. */
  readonly continued: string | undefined;
}

/** What runs the turns: the place, and the session that shows them. */
type Run = RunPlace & { readonly options: RunOptions; readonly thread: ThreadTerminal };

/** Runs the turns of `harness run` on its server, which may be starting. */
export const runPrompt = async (
  prompt: string | undefined,
  options: RunOptions,
  place: RunPlace,
): Promise<ExitCode> => {
  const { attach: endpoint, approve, json = false, retryFor, thread: threadId } = options;
  const { server, interrupts, hub } = place;
  const thread = await ThreadTerminal.open({
    ...place,
    ...{ command: "harness run", transport: server, endpoint, retryFor, threadId, approve },
    ...{ withoutTerminal: "no-terminal", json, showPrompt: false, policyUse: hub && useInHub },
  });
  const endKeys = thread.session.hearEscape(interrupts.cancel);
  try {
    await server.opened();
    return await thread.connect((client) => runTurns(client, prompt, { ...place, options, thread }));
  } catch (error) {
    throw thread.failure(error);
  } finally {
    // Until the server is gone a signal does not end this process.
    endKeys();
    await thread.session.closeHub();
    await server.close();
    await thread.end();
  }
};

const runTurns = async (client: ThreadClient, prompt: string | undefined, run: Run): Promise<ExitCode> => {
  const { options, thread, continued, interrupts } = run;
  const { thread: given, attach } = options;
  const threadId =
    given !== undefined && attach !== undefined
      ? await servedThreadId(client, given, interrupts.signal)
      : given;
  if (threadId !== undefined) opened(run, threadId);
  if (prompt !== undefined && continued === undefined) {
    const exitCode = await startTurn(client, prompt, run);
    if (exitCode !== undefined) return exitCode;
  }
  const settled = threadId === undefined ? undefined : await settleEarlier(client, threadId, prompt, run);
  if (prompt === undefined || (settled && settled.result.status !== "completed")) {
    thread.session.view.breakLine();
    if (settled) return summarise(run, settled);
    throw usageError("No prompts are waiting in this thread", {
      to: "Say what to do",
      run: 'harness run --thread ID "PROMPT"',
    });
  }
  // A call of it that may have run is not forgotten over the answer to the prompt.
  const earlier = settled && continued !== undefined ? settled.exitCode : ExitCode.done;
  const exitCode = await startTurn(client, prompt, run);
  if (exitCode !== undefined) return exitCode === ExitCode.done ? earlier : exitCode;
  throw new CliError("turn_busy", "Another client has started a turn in this thread", {
    hint: "Try again when it has ended",
  });
};

/** The thread is known. What it asks at the hub is shown here, and may be answered here; the turn does not wait for it. */
const opened = ({ thread, hub, interrupts }: Run, threadId: string): void => {
  thread.threadId = threadId;
  void thread.session.followHub(hub, threadId, interrupts.interrupt);
};

/**
 * Brings the turn that has no end yet to its end, or shows one that goes on by itself. The first Ctrl-C cancels it. It has no answer to the
 * prompt. Rejects with a `CliError` `approval_waiting` if no user can be asked.
 */
const settleEarlier = async (
  client: ThreadClient,
  threadId: string,
  prompt: string | undefined,
  { thread, interrupts: { signal }, continued }: Run,
): Promise<FollowedTurn | undefined> => {
  const cancel = () => void client.cancelTurn(threadId).catch((error) => logFailure("harness run", error));
  signal.addEventListener("abort", cancel, { once: true });
  try {
    return await thread
      .follower(prompt === undefined ? thread.output : thread.timeline)
      .follow(client, threadId, {
        onlyOpenTurn: true,
        turnId: continued,
        // Without a terminal the question is left for another client, and not refused.
        openTurnRefusal: thread.session.mode === "no-terminal" ? () => approvalWaiting(threadId) : undefined,
      });
  } finally {
    signal.removeEventListener("abort", cancel);
  }
};

const approvalWaiting = (threadId: string): CliError =>
  refusedError(
    "approval_waiting",
    `The last turn of ${threadId} has not ended: it waits for an answer, and there is no terminal to ask in`,
    { hint: "Answer it: the same command in a terminal, or with --approve once or --approve reject" },
  );

/** Undefined where no price is known, or the file of prices cannot be read: `threads cost` says why. */
const turnCost = async (usage: Usage | undefined): Promise<number | undefined> => {
  if (usage === undefined) return undefined;
  const { pricesOf } = await import("../prices.ts");
  return pricesOf().then(
    (prices) => costOf(usage, usage.modelId, prices),
    () => undefined,
  );
};

/** Shows how a turn ended. */
const summarise = async (
  { thread, server, workspace, options: { attach } }: Run,
  turn: FollowedTurn,
): Promise<ExitCode> => {
  const { threadId } = turn.result.turn;
  const endedCommands = await server.runningCommands();
  const cost = await turnCost(turn.result.turn.usage);
  thread.output.summary({
    ...turn,
    ...{ threadId, endedCommands, cost, askedAtHub: thread.session.askedAtHub },
    log: attach === undefined ? logFile(workspace, threadId) : undefined,
    again: threadCommand(threadId, attach, workspace),
  });
  return turn.exitCode;
};

/** Undefined where another turn runs in the thread. */
const startTurn = async (client: ThreadClient, prompt: string, run: Run): Promise<ExitCode | undefined> => {
  const { thread, options, interrupts, server } = run;
  const { signal } = interrupts;
  const { threadId } = thread;
  if (threadId === undefined) await server.check(options.agent);
  const { threadId: id, directory } =
    threadId === undefined
      ? await client.createThread({ title: promptTitle(prompt) }, { signal })
      : (await client.getThread(threadId, { limit: 1, signal })).thread;
  if (threadId === undefined) opened(run, id);
  let turn: TurnHandle;
  try {
    turn = await beginTurn(client, id, directory, prompt, options, signal);
  } catch (error) {
    if (threadId !== undefined && isTurnOpen(error)) return undefined;
    throw error;
  }
  if (turn.position !== undefined)
    note(`harness run: queued at place ${turn.position} of ${id} as ${turn.turnId}; Ctrl-C takes it back`);
  return summarise(run, await thread.follower().run(client, turn, directory));
};

const beginTurn = async (
  client: ThreadClient,
  threadId: string,
  directory: string,
  prompt: string,
  { agent, model, thread, queue, interrupt, file = [] }: RunOptions,
  signal: AbortSignal,
): Promise<TurnHandle> => {
  const chosen = model === undefined ? undefined : toModelReference(model);
  if (thread !== undefined && prompt.trim() === compactPrompt)
    return client.compactThread({ threadId, model: chosen, signal });
  const files = await Promise.all(file.map((path) => toFileInput(path, directory)));
  return client.startTurn({
    threadId,
    input: [{ type: "text", text: prompt }, ...files],
    signal,
    whenBusy: queue ? "queue" : interrupt ? "interrupt" : undefined,
    agent,
    model: chosen,
  });
};

const isTurnOpen = (error: unknown): boolean => {
  if (!ProtocolError.isInstance(error) || error.rpcCode !== ThreadErrorCode.TurnBusy) return false;
  const { data } = error;
  return typeof data === "object" && data !== null && "turnId" in data;
};
