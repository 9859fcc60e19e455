import { createChatHarness } from "@harnesskit/chat-harness";
import { createChatGraph } from "@harnesskit/chat-harness/ai-sdk";
import type { ChatMessage } from "@harnesskit/protocol/chat";
import { randomId } from "@harnesskit/wire";
import { parseChatLine } from "../chat/chat-command.ts";
import {
  type ChatStore,
  leaseTtlMs,
  openModel,
  openStore,
  storeFileOf,
  toolTimeoutMs,
} from "../chat/chat-parts.ts";
import { ChatView } from "../chat/chat-view.ts";
import { Conversation } from "../chat/conversation.ts";
import { LineReader } from "../chat/line-reader.ts";
import { WaitingCalls } from "../chat/waiting-calls.ts";
import { createWorkspaceTools } from "../chat/workspace-tools.ts";
import { usageError } from "../cli-error.ts";
import { logFailure } from "../debug.ts";
import { ExitCode } from "../exit-code.ts";
import { forgetInterruption, interruptedExitCode, noteInterruption } from "../interruption.ts";
import { oneLine } from "../terminal/one-line.ts";
import { shellWord } from "../terminal/shell-word.ts";
import { canSpin, Spinner } from "../terminal/spinner.ts";
import { createTerminal } from "../terminal/terminal.ts";
import { workspaceDirectory } from "../workspace-directory.ts";

export interface ChatOptions {
  readonly cwd: string;
  readonly session?: string;
  readonly model: string;
  readonly store?: string;
}

const maxSessionIdLength = 200;

const system =
  "You talk with a user in a terminal. Your tools work in the user's directory. What writes or executes is shown to the " +
  "user first and runs only when it is approved; a call that was rejected was not run.";

const sessionIdOf = ({ session }: ChatOptions): string => {
  if (session === undefined) return randomId("chat").slice(0, "chat_".length + 8);
  if (session !== "" && session.length <= maxSessionIdLength) return session;
  throw usageError(`--session: an id has 1 to ${maxSessionIdLength} characters`);
};

/** The messages that are stored of a conversation. */
const storedHistory = async (store: ChatStore, sessionId: string): Promise<readonly ChatMessage[]> => {
  const session = await store.sessions.load(sessionId);
  return session === null ? [] : [...(session.state.messages as unknown as Iterable<ChatMessage>)];
};

/** The command that goes on with a conversation. */
const againText = (sessionId: string, { store }: ChatOptions, workspace: string): string => {
  const where = workspace === process.cwd() ? "" : ` --cwd ${shellWord(workspace)}`;
  const kept = store === undefined ? "" : ` --store ${shellWord(store)}`;
  return `harness chat --session ${shellWord(sessionId)}${where}${kept}`;
};

/** `harness chat`: a conversation at the terminal, or with the lines of standard input. */
export const chat = async (options: ChatOptions): Promise<ExitCode> => {
  const sessionId = sessionIdOf(options);
  const workspace = await workspaceDirectory(options.cwd);
  const model = await openModel(options.model);
  const store = await openStore(storeFileOf(options, workspace));
  const terminal = createTerminal();
  const spinner = canSpin(process.stdout) ? new Spinner() : undefined;
  const view = new ChatView(terminal, spinner);
  const waiting = new WaitingCalls(workspace, terminal.style);
  const graph = createChatGraph({
    model,
    system,
    tools: createWorkspaceTools(workspace),
    toolTimeoutMs,
    onEvent: (event) => conversation.observe(event),
  });
  const harness = createChatHarness({
    graph,
    store,
    session: { leaseTtlMs },
    maxSessionIdLength,
    onWarning: ({ message, cause }) => logFailure(`harness chat: ${message}`, cause),
  });
  const history = () => storedHistory(store, sessionId);
  const conversation = new Conversation({ sessionId, harness, view, waiting, history });
  let interrupts = 0;
  const onInterrupt = () => {
    noteInterruption();
    if (++interrupts > 1) process.exit(interruptedExitCode());
    const isCancelled = conversation.cancel();
    // At a terminal the user goes on after a turn that was cancelled.
    if (isCancelled && lines.isTerminal) forgetInterruption();
    else lines.close();
  };
  const lines = new LineReader(onInterrupt);
  process.on("SIGINT", onInterrupt);
  try {
    view.note(
      `session ${oneLine(sessionId, 80)}, model ${oneLine(options.model, 200)}; /help says what there is`,
    );
    await conversation.open();
    for (;;) {
      const line = await lines.next();
      if (line === undefined) break;
      interrupts = 0;
      if (!lines.isTerminal && line.trim() !== "") view.said(line);
      if (!(await conversation.take(parseChatLine(line)))) break;
    }
    const waits = await tellEnd(conversation, view, againText(sessionId, options, workspace));
    if (conversation.hasFailed) return ExitCode.failed;
    // At a terminal the user has seen what waits, and has left it.
    const isRefused = !lines.isTerminal && (waits || conversation.hasRefused);
    return isRefused ? ExitCode.refused : ExitCode.done;
  } finally {
    process.off("SIGINT", onInterrupt);
    spinner?.dispose();
    lines.close();
    await harness.close();
    await store.close();
  }
};

/** Says what waits, and how to go on. True where something of this conversation waits. */
const tellEnd = async (conversation: Conversation, view: ChatView, again: string): Promise<boolean> => {
  const { own, others } = await conversation.pendingCounts();
  if (own > 0)
    view.warn(own === 1 ? "1 call waits for your approval." : `${own} calls wait for your approval.`);
  if (others > 0)
    view.note(`In other conversations, ${others === 1 ? "1 call waits" : `${others} calls wait`}.`);
  view.note(`to continue: ${oneLine(again, 1_200)}`);
  return own > 0;
};
