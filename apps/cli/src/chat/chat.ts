import { createChatHarness } from "@harnesskit/chat-harness";
import { createChatGraph, toChatTools } from "@harnesskit/chat-harness/ai-sdk";
import type { GraphStore } from "@harnesskit/graph";
import { randomId, shellWord } from "@harnesskit/wire";
import { openAgentCore } from "../agents/agent-core.ts";
import { CliError, ExitCode, logFailure } from "../cli-error.ts";
import { maxSessionIdLength } from "../commands/options.ts";
import { type HubOptions, hubToolTimeoutMs, openHubJudge } from "../hub/hub-judge.ts";
import { idWithPrefix } from "../id-prefix.ts";
import { io } from "../io.ts";
import { endedCommandsText } from "../run/run-output.ts";
import { contextOf } from "../serve/models.ts";
import { Session } from "../session/session.ts";
import { conversationsIn } from "../store/location.ts";
import { openConversations } from "../store/open.ts";
import { LineConversation } from "../terminal/line-conversation.ts";
import { pick } from "../terminal/pick.ts";
import { useInHub } from "../timeline/judgements.ts";
import type { View } from "../timeline/view.ts";
import { withCleanup } from "../with-cleanup.ts";
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
export const chat = (options: ChatOptions, { version }: { readonly version: string }): Promise<ExitCode> =>
  withCleanup(async (defer) => {
    const workspace = await workspaceDirectory(options.cwd);
    const model = new SwitchedModel(await openModel(options.model));
    const opened = await openConversations(conversationsIn(options, workspace), "harness chat");
    defer(() => opened.close());
    const { graph: store } = opened;
    const sessionId = await sessionIdOf(options, store);
    const session = await Session.open({
      ...{ command: "harness chat" as const, version, withoutTerminal: "no-terminal" as const },
      ...{ showDone: false, policyUse: useInHub },
    });
    const { view, spinner } = session;
    const { agents, installedAgents, passEnv, hub } = options;
    const core = await openAgentCore({
      ...{ command: "chat", version, models: [options.model], agents, installedAgents, passEnv },
    });
    defer(() => core.close());
    const events = new ChatEvents((event) => view.show(event));
    const judge = await openHubJudge({
      ...{ command: "chat", hub, workspace, version, note: session.note },
      onBlocked: (call, id) => events.blocks(call, id),
    });
    defer(() => judge?.close());
    const graph = createChatGraph({
      model,
      system,
      tools: async (listing) => {
        const tools = await core.tools(listing);
        return toChatTools(judge?.judged(tools) ?? tools, { directory: workspace });
      },
      toolTimeoutMs: judge === undefined ? toolTimeoutMs : hubToolTimeoutMs,
      onEvent: (event) => conversation.observe(event),
      notes: ({ sessionId: id }) =>
        core.endedCommands({ conversation: id ?? undefined, directory: workspace }),
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
    defer(() => harness.close());
    const conversation = new Conversation({
      ...{ session, sessionId, directory: workspace, events },
      modelId: () => model.modelId,
      harness: judge?.conversations(harness) ?? harness,
      compact: (id, scope) => harness.compact(id, scope),
      waiting: new WaitingCalls(workspace, view.style),
      history: (id) => storedHistory(store, id),
      isNamed: options.session !== undefined,
    });
    const follow = () =>
      session.followHub(judge?.place, conversation.sessionId, () => void conversation.cancel());
    const beginAnother = async () => {
      conversation.beginAnother(newSessionId());
      await follow();
      return conversation.sessionId;
    };
    conversation.commands = chatCommands({ conversation, view, model, openModel, beginAnother });
    const lines = new LineConversation(session, conversation);
    defer(() => session.closeHub());
    defer(() => lines.close());
    defer(() => spinner?.dispose());
    await follow();
    view.note(`session ${sessionId}, model ${options.model}; /help lists the commands`);
    if (judge === undefined) view.note(noPolicyNote);
    void core.start();
    await conversation.open();
    await lines.follow(() => session.answered());
    const ended = endedCommandsText(await core.runningCommands());
    if (ended !== undefined) view.warn(ended);
    const again = resumeCommand(conversation.sessionId, options, workspace);
    const waits = await reportPending(conversation, view, again);
    return conversation.exitCode ?? (waits ? ExitCode.refused : ExitCode.done);
  });

const reportPending = async (conversation: Conversation, view: View, again: string): Promise<boolean> => {
  const { own, others } = await conversation.pendingCounts();
  if (own > 0)
    view.warn(own === 1 ? "1 call waits for your approval." : `${own} calls wait for your approval.`);
  if (others > 0)
    view.note(`In other conversations, ${others === 1 ? "1 call waits" : `${others} calls wait`}.`);
  view.note(`to continue: ${again}`);
  return own > 0;
};
