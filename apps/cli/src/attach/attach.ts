import type { Thread, ThreadClient } from "@harnesskit/thread-client";
import { createUnixTransport } from "@harnesskit/transport-uds";
import { shellWord } from "@harnesskit/wire";
import { CliError, ExitCode } from "../cli-error.ts";
import { socketPathOf } from "../endpoint.ts";
import { Interrupts, interruptedExitCode } from "../interruption.ts";
import { io } from "../io.ts";
import { threadCommand } from "../run/run-output.ts";
import { ThreadTerminal } from "../run/thread-terminal.ts";
import { note, type Terminal } from "../terminal/terminal.ts";
import { safeJson } from "../terminal/text.ts";
import { servedThreadId } from "../threads/thread-ids.ts";
import { threadRowText } from "../threads/thread-row.ts";
import type { ThreadFollower } from "./thread-follower.ts";

const maxListed = 10;

/**
 * The thread that a server used last. Where it has several, they are listed on `terminal`. Rejects with a `CliError`
 * `thread_not_found` if there is no thread.
 */
const chooseThread = async (
  client: ThreadClient,
  endpoint: string,
  terminal: Terminal | undefined,
  signal: AbortSignal,
): Promise<string> => {
  const threads: Thread[] = [];
  for await (const thread of client.allThreads({ signal })) if (threads.push(thread) > maxListed) break;
  const [last] = threads;
  const place = shellWord(endpoint);
  if (!last) {
    throw new CliError("thread_not_found", "The server has no thread yet", {
      hint: { to: "Begin one", run: `harness run --attach ${place} "PROMPT"` },
    });
  }
  if (threads.length === 1 || !terminal) return last.threadId;
  const { style, columns } = terminal;
  const row = { style, columns: columns === undefined ? undefined : columns - "› ".length };
  const ids = threads.map(({ threadId }) => threadId);
  for (const { threadId: id, title, time } of threads.slice(0, maxListed)) {
    const sign = id === last.threadId ? style.cyan("›") : " ";
    terminal.say(`${sign} ${threadRowText({ id, title, updatedAtMs: time.updated }, ids, row)}`, "  ");
  }
  const more = threads.length > maxListed ? "and more; " : "";
  const note = `${more}the one used last follows, another with --thread ID`;
  terminal.say([style.dim(note), ""]);
  return last.threadId;
};

export interface AttachOptions {
  readonly thread?: string;
  readonly approve?: "ask" | "once" | "reject";
  readonly after?: number;
  readonly follow?: true;
  /** How long the server is tried again, in seconds. @default 60 where it was there */
  readonly retryFor?: number;
  readonly json?: true;
}

/** `harness attach`: follows a thread of a server that runs, and answers what waits there. */
export const attach = async (
  endpoint: string,
  options: AttachOptions,
  { version }: { readonly version: string },
): Promise<ExitCode> => {
  const transport = createUnixTransport({ path: socketPathOf(endpoint, "attach") });
  const { thread: threadId, approve, retryFor, json = false } = options;
  const interrupts = new Interrupts(() => io().exit(interruptedExitCode()));
  const thread = await ThreadTerminal.open({
    ...{ command: "harness attach", version, transport, endpoint, retryFor, threadId },
    ...{ approve, withoutTerminal: "watch", json, interrupts },
  });
  interrupts.listen();
  try {
    return await thread.connect((client) =>
      followThread(client, thread, endpoint, options, interrupts.signal),
    );
  } catch (error) {
    throw thread.failure(error);
  } finally {
    await thread.end();
  }
};

const followThread = async (
  client: ThreadClient,
  thread: ThreadTerminal,
  endpoint: string,
  { json, after, follow }: AttachOptions,
  signal: AbortSignal,
): Promise<ExitCode> => {
  const { terminal, view } = thread.session;
  const threadId =
    thread.threadId === undefined
      ? await chooseThread(client, endpoint, json ? undefined : terminal, signal)
      : await servedThreadId(client, thread.threadId, signal);
  thread.threadId = threadId;
  const follower = thread.follower();
  const turn = await follower.follow(client, threadId, { signal, after, stay: follow });
  view.breakLine();
  if (signal.aborted) return detached(threadId, client, follower);
  if (!turn) return idle(threadId, terminal, json);
  thread.output.summary({ ...turn, threadId, again: threadCommand(threadId, endpoint), unasked: 0 });
  return turn.exitCode;
};

const detached = (threadId: string, client: ThreadClient, follower: ThreadFollower): ExitCode => {
  const isThere = client.state === "ready";
  const goesOn = follower.openTurn === undefined ? "" : "; its turn goes on";
  note(`harness: detached from ${threadId}${isThere ? goesOn : "; the server is not back"}`);
  return interruptedExitCode() ?? ExitCode.interrupted;
};

const idle = (threadId: string, terminal: Terminal, json: true | undefined): ExitCode => {
  const data = { threadId, turnId: null, status: "idle", exitCode: ExitCode.done };
  const line = json
    ? safeJson({ type: "result", data })
    : "Nothing has run in this thread yet. To wait for it: --follow";
  terminal.say(line);
  return ExitCode.done;
};
