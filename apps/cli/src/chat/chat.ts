import { createChatHarness } from "@harnesskit/chat-harness";
import { createChatGraph, toChatTools } from "@harnesskit/chat-harness/ai-sdk";
import type { GraphStore } from "@harnesskit/graph";
import { randomId, shellWord } from "@harnesskit/wire";
import { openAgentCore } from "../agents/agent-core.ts";
import { CliError, ExitCode, logFailure } from "../cli-error.ts";
import { maxSessionIdLength } from "../commands/options.ts";
import { followQuestions } from "../hub/follow-questions.ts";
import { type HubOptions, hubToolTimeoutMs, openHubJudge } from "../hub/hub-judge.ts";
import { idWithPrefix } from "../id-prefix.ts";
import { io } from "../io.ts";
import { endedCommandsText } from "../run/run-output.ts";
import { contextOf } from "../serve/models.ts";
import { conversationsIn } from "../store/location.ts";
import { openConversations } from "../store/open.ts";
import { askUser } from "../terminal/asker.ts";
import { LineConversation } from "../terminal/line-conversation.ts";
import { pick } from "../terminal/pick.ts";
import { proseFor } from "../terminal/prose.ts";
import { canSpin, Spinner } from "../terminal/spinner.ts";
import { createTerminal } from "../terminal/terminal.ts";
import { oneLine } from "../terminal/text.ts";
import { useInHub } from "../timeline/judgements.ts";
import { View } from "../timeline/view.ts";
import { workspaceDirectory } from "../workspace-directory.ts";
import { chatCommands } from "./chat-commands.ts";
import { ChatEvents } from "./chat-events.ts";
import { leaseTtlMs, openModel, operatorReplies, toolTimeoutMs } from "./chat-parts.ts";
import { Conversation } from "./conversation.ts";
import { chatIds, storedChats, storedHistory } from "./stored-chats.ts";
import { SwitchedModel } from "./switched-model.ts";
import { WaitingCalls } from "./waiting-calls.ts";

export interface ChatOptions extends HubOptions {
  readonly cwd: string;
  readonly session?: string;
  /** Go on with the conversation used last. */
  readonly continue?: true;
  /** Choose a conversation at the terminal. */
  readonly resume?: true;
  readonly model: string;
  readonly store?: string;
  /** Agents whose tools the model can use, beside the workspace tools. @default none */
  readonly agents?: readonly string[];
  /** False leaves out the agents that are installed and enabled. @default true */
  readonly installedAgents?: boolean;
  /** Environment variables that commands see beside the usual ones. @default none */
  readonly passEnv?: readonly string[];
}

const system =
  "You talk with a user in a terminal. Your tools work in the user's directory. What writes or executes is shown to the " +
  "user first and runs only when it is approved; a call that was rejected was not run.";

/** Said where no hub judges: a conversation has no policy of its own. */
const noPolicyNote =
  "no hub judges, so no policy is in force: only you are asked, before what writes or executes (harness hub starts one)";

const newSessionId = (): string => randomId("chat").slice(0, "chat_".length + 8);

const maxPicked = 50;

/** The conversation that the options name: a new one, unless they say otherwise. */
const sessionIdOf = async (
  { session, continue: goesOn, resume }: ChatOptions,
  store: GraphStore,
): Promise<string> => {
  const otherwise = "Begin one: harness chat";
  if (resume) {
    const chats = await storedChats(store, maxPicked);
    const picks = chats.map(({ sessionId, ...chat }) => ({ id: sessionId, ...chat }));
    return pick(picks, "conversation", chats.length === 0 ? otherwise : "Name it: --session ID");
  }
  if (goesOn) {
    const [last] = await chatIds(store);
    if (last === undefined)
      throw new CliError("not_found", "There is no conversation yet", { hint: otherwise });
    return last;
  }
  if (session === undefined) return newSessionId();
  // A name of the user's own may begin as another one does.
  const made = (await chatIds(store)).filter((id) => id === session || id.startsWith("chat_"));
  return session.startsWith("chat_") ? idWithPrefix(session, made) : session;
};

const resumeCommand = (
  sessionId: string,
  { store, hub, agents = [], installedAgents = true, passEnv = [] }: ChatOptions,
  workspace: string,
): string => {
  const where = workspace === io().cwd() ? "" : ` --cwd ${shellWord(workspace)}`;
  const kept = store === undefined ? "" : ` --store ${shellWord(store)}`;
  const judge = hub === undefined ? "" : hub === false ? " --no-hub" : ` --hub ${shellWord(hub)}`;
  const used = agents.map((agent) => ` --agents ${shellWord(agent)}`).join("");
  const passed = passEnv.length === 0 ? "" : ` --pass-env ${passEnv.join(",")}`;
  return `harness chat --session ${shellWord(sessionId)}${where}${kept}${judge}${used}${passed}${installedAgents ? "" : " --no-installed-agents"}`;
};

/** `harness chat`: a conversation at the terminal, or with the lines of standard input. */
export const chat = async (
  options: ChatOptions,
  { version }: { readonly version: string },
): Promise<ExitCode> => {
  const workspace = await workspaceDirectory(options.cwd);
  const model = new SwitchedModel(await openModel(options.model));
  const { agents, installedAgents, passEnv, hub } = options;
  const note = (line: string) => void io().stderr.write(`harness chat: ${line}\n`);
  const judge = await openHubJudge({
    ...{ command: "chat", hub, workspace, version, note },
    onBlocked: (call, id) => events.blocks(call, id),
  });
  const core = await openAgentCore({
    command: "chat",
    version,
    models: [options.model],
    agents,
    installedAgents,
    passEnv,
  });
  const location = conversationsIn(options, workspace);
  const opened = await openConversations(location, "harness chat");
  const { graph: store } = opened;
  const sessionId = await sessionIdOf(options, store);
  const terminal = createTerminal();
  const spinner = canSpin(io().stdout) ? new Spinner() : undefined;
  const openProse = await proseFor(terminal);
  const view = new View({ terminal, spinner, openProse, showDone: false, policyUse: useInHub });
  const events = new ChatEvents((event) => view.show(event));
  const waiting = new WaitingCalls(workspace, terminal.style);
  const graph = createChatGraph({
    model,
    system,
    tools: async (listing) => {
      const tools = await core.tools(listing);
      return toChatTools(judge?.judged(tools) ?? tools, { directory: workspace });
    },
    toolTimeoutMs: judge === undefined ? toolTimeoutMs : hubToolTimeoutMs,
    onEvent: (event) => conversation.observe(event),
    notes: ({ sessionId: id }) => core.endedCommands({ conversation: id ?? undefined, directory: workspace }),
    ...contextOf(io().env),
  });
  const harness = createChatHarness({
    graph,
    store,
    session: { leaseTtlMs },
    replies: operatorReplies,
    limits: { maxSessionIdLength },
    onError: (cause, { message }) => logFailure(`harness chat: ${message}`, cause),
  });
  const isTerminal = io().stdin.isTTY === true && io().stdout.isTTY === true;
  const ask = (signal: AbortSignal, shown: readonly string[]) => {
    lines.releaseKeyboard();
    const question = { lines: shown, takesReason: true, canWait: true };
    return askUser(question, signal, { show: (part) => view.lines(part) });
  };
  const conversation = new Conversation({
    ...{
      sessionId,
      directory: workspace,
      harness: judge?.conversations(harness) ?? harness,
      view,
      events,
      spinner,
      waiting,
      history: (id) => storedHistory(store, id),
    },
    isNamed: options.session !== undefined,
    ask: isTerminal ? ask : undefined,
  });
  const lines = new LineConversation(view, conversation);
  const following = {
    place: judge?.place,
    command: "harness chat",
    version,
    view,
    spinner,
    asks: () => isTerminal && !lines.isReading,
    beforeAsk: () => lines.releaseKeyboard(),
    onCancel: () => void conversation.cancel(),
  };
  let questions = await followQuestions({ ...following, session: sessionId });
  const beginAnother = async () => {
    conversation.beginAnother(newSessionId());
    await questions?.close();
    questions = await followQuestions({ ...following, session: conversation.sessionId });
    return conversation.sessionId;
  };
  conversation.commands = chatCommands({ conversation, view, model, openModel, beginAnother });
  try {
    view.note(
      `session ${oneLine(sessionId, 80)}, model ${oneLine(options.model, 200)}; /help lists the commands`,
    );
    if (judge === undefined) view.note(noPolicyNote);
    void core.start();
    await conversation.open();
    await lines.follow(() => questions?.answered());
    const ended = endedCommandsText(await core.runningCommands());
    if (ended !== undefined) view.warn(ended);
    const waits = await reportPending(
      conversation,
      view,
      resumeCommand(conversation.sessionId, options, workspace),
    );
    return conversation.exitCode ?? (waits ? ExitCode.refused : ExitCode.done);
  } finally {
    spinner?.dispose();
    lines.close();
    await questions?.close();
    await harness.close();
    await judge?.close();
    await core.close();
    await opened.close();
  }
};

const reportPending = async (conversation: Conversation, view: View, again: string): Promise<boolean> => {
  const { own, others } = await conversation.pendingCounts();
  if (own > 0)
    view.warn(own === 1 ? "1 call waits for your approval." : `${own} calls wait for your approval.`);
  if (others > 0)
    view.note(`In other conversations, ${others === 1 ? "1 call waits" : `${others} calls wait`}.`);
  view.note(`to continue: ${oneLine(again, 1_200)}`);
  return own > 0;
};
