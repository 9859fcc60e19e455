import type { HubPlace } from "@harnesskit/hub/place";
import { costOf, toModelReference } from "@harnesskit/models";
import { ThreadErrorCode, type Usage } from "@harnesskit/protocol/threads";
import type { Thread, ThreadClient, TurnHandle } from "@harnesskit/thread-client";
import { createDeferred, ProtocolError } from "@harnesskit/wire";
import { withServer } from "../attach/connection.ts";
import type { FollowedTurn } from "../attach/thread-follower.ts";
import { CliError, ExitCode, usageError } from "../cli-error.ts";
import type { Interrupts } from "../interruption.ts";
import { runStreams } from "../session/streams.ts";
import { createTerminal, note } from "../terminal/terminal.ts";
import { promptTitle } from "../terminal/text.ts";
import { servedThreadId } from "../threads/thread-ids.ts";
import { exitCodeOf, RefusedCalls } from "../timeline/outcomes.ts";
import { logFile } from "../workspace-directory.ts";
import { toCliFailure } from "./failures.ts";
import type { RunOptions } from "./run.ts";
import { toFileInput } from "./run-input.ts";
import { failureJson, goOnCommand, type RunSummary } from "./run-output.ts";
import { createThreadParts, settleTurn, type ThreadParts } from "./run-parts.ts";
import type { RunServer } from "./run-server.ts";

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

/** Runs the turns of `harness run` on its server, which may be starting. */
export const runPrompt = async (
  prompt: string | undefined,
  options: RunOptions,
  place: RunPlace,
): Promise<ExitCode> => {
  const { attach, approve, json = false, retryFor } = options;
  let { thread: threadId } = options;
  const { workspace } = place;
  const parts = await createThreadParts({
    ...place,
    command: "harness run",
    transport: place.server,
    endpoint: attach,
    retryFor,
    threadId,
    approve,
    withoutTerminal: "no-terminal",
    json,
    streams: runStreams(),
    showPrompt: false,
  });
  const placeOf = (id: string) => ({
    log: attach === undefined ? logFile(workspace, id) : undefined,
    again: goOnCommand(id, attach, workspace),
  });
  const endKeys = parts.session.hearEscape(place.interrupts.cancel);
  try {
    await place.server.opened();
    if (attach !== undefined && threadId !== undefined) {
      const given = threadId;
      const { signal } = place.interrupts;
      threadId = await withServer({ ...parts.connecting, onError: parts.notes.tell }, (client) =>
        servedThreadId(client, given, signal),
      );
      parts.threadId = threadId;
    }
    return await runTurns(
      prompt,
      threadId === undefined ? options : { ...options, thread: threadId },
      Object.assign(parts, { hub: place.hub, placeOf, continued: place.continued, server: place.server }),
    );
  } catch (error) {
    const failure = toCliFailure(error, {
      command: "run",
      workspace,
      threadId: parts.threadId,
      endpoint: attach,
    });
    if (json) createTerminal().json(failureJson(failure, threadId));
    throw failure;
  } finally {
    // Until the server is gone a signal does not end this process.
    endKeys();
    await parts.session.closeHub();
    await place.server.close();
    await parts.end();
  }
};

/** What the thread asks at the hub is shown here, and may be answered here. The turn does not wait for it. */
const followHub = ({ hub, session, interrupts }: RunParts, threadId: string): void =>
  void session.followHub(hub, threadId, interrupts.interrupt);

/** What shows the thread, what it asks at the hub, and where it is found again. */
type RunParts = ThreadParts & {
  readonly hub: HubPlace | undefined;
  readonly placeOf: (threadId: string) => Pick<RunSummary, "log" | "again">;
  readonly continued: string | undefined;
  readonly server: RunServer;
};

const runTurns = async (
  prompt: string | undefined,
  options: RunOptions,
  parts: RunParts,
): Promise<ExitCode> => {
  const { thread: threadId } = options;
  if (prompt !== undefined && parts.continued === undefined) {
    const exitCode = await startTurn(prompt, options, parts);
    if (exitCode !== "busy") return exitCode;
  }
  if (threadId !== undefined) followHub(parts, threadId);
  const settled = threadId === undefined ? undefined : await settleEarlier(threadId, prompt, parts);
  const isDone = prompt !== undefined && (!settled || settled.result.status === "completed");
  if (!isDone || prompt === undefined) return endWith(settled, parts);
  // A call of it that may have run is not forgotten over the answer to the prompt.
  const earlier = settled && parts.continued !== undefined ? settled.exitCode : ExitCode.done;
  const exitCode = await startTurn(prompt, options, parts);
  if (exitCode !== "busy") return exitCode === ExitCode.done ? earlier : exitCode;
  throw new CliError("turn_busy", "Another client has started a turn in this thread", {
    hint: "Try again when it has ended",
  });
};

/** A turn before that of the prompt has no answer to it. */
const settleEarlier = (threadId: string, prompt: string | undefined, parts: RunParts) =>
  settleTurn(
    threadId,
    prompt === undefined ? parts : { ...parts, output: parts.timelineOutput },
    parts.continued,
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
  { output, session, placeOf, server }: RunParts,
  { turnId, result, exitCode }: FollowedTurn,
  unasked = 0,
): Promise<ExitCode> => {
  const { threadId } = result.turn;
  const { askedAtHub } = session;
  const endedCommands = await server.runningCommands();
  const cost = await turnCost(result.turn.usage);
  output.summary({
    ...{ threadId, turnId, result, exitCode, unasked, askedAtHub, endedCommands, cost },
    ...placeOf(threadId),
  });
  return exitCode;
};

const endWith = (settled: FollowedTurn | undefined, parts: RunParts): ExitCode | Promise<ExitCode> => {
  parts.session.view.breakLine();
  if (!settled) {
    throw usageError(
      "No prompts are waiting in this thread",
      'Say what to do: harness run --thread ID "PROMPT"',
    );
  }
  return summarise(parts, settled);
};

const startTurn = async (
  prompt: string,
  options: RunOptions,
  parts: RunParts,
): Promise<ExitCode | "busy"> => {
  try {
    return await withServer({ ...parts.connecting, onError: parts.notes.tell }, async (client) => {
      const thread = await openThread(client, prompt, options, parts.interrupts);
      parts.threadId = thread.threadId;
      parts.questions.directory = thread.directory;
      if (options.thread === undefined) followHub(parts, thread.threadId);
      const turn = await beginTurn(client, thread, prompt, options, parts);
      return followTurn(client, turn, parts);
    });
  } catch (error) {
    if (options.thread !== undefined && isTurnOpen(error)) return "busy";
    throw error;
  }
};

const beginTurn = async (
  client: ThreadClient,
  { threadId, directory }: Thread,
  prompt: string,
  { agent, model, thread, queue, interrupt, file = [] }: RunOptions,
  { interrupts: { signal } }: ThreadParts,
): Promise<TurnHandle> => {
  const chosen = model === undefined ? undefined : toModelReference(model);
  if (thread !== undefined && prompt.trim() === compactPrompt)
    return client.compactThread({ threadId, model: chosen, signal });
  return client.startTurn({
    threadId,
    input: [
      { type: "text", text: prompt },
      ...(await Promise.all(file.map((path) => toFileInput(path, directory)))),
    ],
    signal,
    whenBusy: queue ? "queue" : interrupt ? "interrupt" : undefined,
    agent,
    model: chosen,
  });
};

const followTurn = async (client: ThreadClient, turn: TurnHandle, parts: RunParts): Promise<ExitCode> => {
  const { session, output, questions } = parts;
  const refused = new RefusedCalls();
  const failed = createDeferred<never>();
  failed.promise.catch(() => {});
  questions.begin(client, failed.reject);
  if (turn.position !== undefined) noteQueued(turn);
  const show = async () => {
    for await (const event of turn) {
      refused.observe(event);
      output.event(event);
      questions.observe(event);
      questions.put();
      await session.ready();
    }
    return turn.result;
  };
  try {
    const result = await Promise.race([show(), failed.promise]);
    const ended = { turnId: turn.turnId, result, exitCode: exitCodeOf(result, refused) };
    return await summarise(parts, ended, refused.count("unattended"));
  } finally {
    await questions.end();
  }
};

const noteQueued = ({ position, threadId, turnId }: TurnHandle): void =>
  note(`harness run: queued at place ${position} of ${threadId} as ${turnId}; Ctrl-C takes it back`);

const isTurnOpen = (error: unknown): boolean => {
  if (!ProtocolError.isInstance(error) || error.rpcCode !== ThreadErrorCode.TurnBusy) return false;
  const { data } = error;
  return typeof data === "object" && data !== null && "turnId" in data;
};

const openThread = async (
  client: ThreadClient,
  prompt: string,
  { thread }: RunOptions,
  { signal }: Interrupts,
): Promise<Thread> => {
  if (thread !== undefined) return (await client.getThread(thread, { limit: 1, signal })).thread;
  return client.createThread({ title: promptTitle(prompt) }, { signal });
};
