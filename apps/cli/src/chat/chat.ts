import { createChatHarness } from "@harnesskit/chat-harness";
import { createChatGraph } from "@harnesskit/chat-harness/ai-sdk";
import type { GraphStore } from "@harnesskit/graph";
import { randomId, shellWord } from "@harnesskit/wire";
import { type AgentsOptions, openAgentCore } from "../agents/agent-core.ts";
import { ask } from "../ask.ts";
import { CliError, ExitCode, logFailure } from "../cli-error.ts";
import { maxSessionIdLength } from "../commands/options.ts";
import { findHub } from "../hub/find-hub.ts";
import { type HubJudgeOptions, hubToolTimeoutMs, openHubJudge } from "../hub/hub-judge.ts";
import { idWithPrefix } from "../id-prefix.ts";
import { io } from "../io.ts";
import { keptWorkspace } from "../kept-workspace.ts";
import { endedCommandsText } from "../run/run-output.ts";
import { contextOf } from "../serve/models.ts";
import { Session } from "../session/session.ts";
import { conversationsIn } from "../store/location.ts";
import { openConversations } from "../store/open.ts";
import {
  noPolicyText,
  type PolicyChoice,
  type PolicyOptions,
  toPolicyChoice,
} from "../supervision/policy-choice.ts";
import { LineConversation } from "../terminal/line-conversation.ts";
import { type Pick, pick, pickOne } from "../terminal/pick.ts";
import { oneLine } from "../terminal/text.ts";
import { useInHub } from "../timeline/judgements.ts";
import type { View } from "../timeline/view.ts";
import { withCleanup } from "../with-cleanup.ts";
import { checkWritable, workspaceDirectory } from "../workspace-directory.ts";
import { chatCommands } from "./chat-commands.ts";
import { ChatEvents } from "./chat-events.ts";
import { leaseTtlMs, openModel, operatorReplies, toolTimeoutMs } from "./chat-parts.ts";
import { chatToolSet } from "./chat-tool-set.ts";
import { Conversation } from "./conversation.ts";
import { ProjectGrants } from "./project-grants.ts";
import { chatIds, storedChats, storedHistory, titleOf } from "./stored-chats.ts";
import { SwitchedModel } from "./switched-model.ts";
import { WaitingCalls } from "./waiting-calls.ts";

export interface ChatOptions extends PolicyOptions, AgentsOptions {
  readonly cwd: string;
  readonly session?: string;
  /** Go on with the conversation used last. */
  readonly continue?: true;
  /** Choose a conversation at the terminal. */
  readonly resume?: true;
  readonly model: string;
  readonly store?: string;
}

const system =
  "You talk with a user in a terminal. Your tools work in the user's directory. What writes or executes is shown to the " +
  "user first and runs only when it is approved; a call that was rejected was not run.";

const newSessionId = (): string => randomId("chat").slice(0, "chat_".length + 8);

const maxPicked = 50;
/** Other conversations that are named where calls wait in them. */
const maxNamed = 5;

const picksOf = async (store: GraphStore): Promise<readonly Pick[]> =>
  (await storedChats(store, maxPicked)).map(({ sessionId, ...chat }) => ({ id: sessionId, ...chat }));

/** What judges where no hub does: the shipped policy, unless the user chose. */
const judgedBy = (choice: PolicyChoice): HubJudgeOptions["policy"] => {
  if (choice.kind === "none") return undefined;
  return choice.kind === "hub" ? { kind: "file", file: undefined } : choice;
};

/** The conversation that the options name: a new one, unless they say otherwise. */
const sessionIdOf = async (
  { session, continue: goesOn, resume }: ChatOptions,
  store: GraphStore,
): Promise<string> => {
  const otherwise = { to: "Begin one", run: "harness chat" };
  if (resume) {
    const picks = await picksOf(store);
    return pick(picks, "conversation", picks.length === 0 ? otherwise : "Name it: --session ID");
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

/** A name of the user's own begins a conversation, at a terminal once the user said so. Throws `not_found` for an id that this program makes. */
const checkBegins = async (sessionId: string): Promise<void> => {
  const shown = oneLine(sessionId, 80);
  const isNamed = !sessionId.startsWith("chat_");
  const begins = isNamed && (await ask(`There is no conversation ${shown}. Begin it?`, "Yes", "No"));
  if (isNamed && begins !== false) return;
  throw new CliError("not_found", `There is no conversation ${shown}`, {
    hint: [
      { to: "To list them", run: "harness threads list" },
      { to: "To choose one", run: "harness chat --resume" },
    ],
  });
};

const resumeCommand = (
  sessionId: string,
  { store, hub, policy, ahp, agents = [], installedAgents = true, passEnv = [] }: ChatOptions,
  workspace: string,
): string => {
  const where = workspace === io().cwd() ? "" : ` --cwd ${shellWord(workspace)}`;
  const kept = store === undefined ? "" : ` --store ${shellWord(store)}`;
  const judge = hub === undefined ? "" : hub === false ? " --no-hub" : ` --hub ${shellWord(hub)}`;
  const ruled =
    policy === undefined ? "" : policy === false ? " --no-policy" : ` --policy ${shellWord(policy)}`;
  const harness = ahp === undefined ? "" : ` --ahp ${shellWord(ahp)}`;
  const used = agents.map((agent) => ` --agents ${shellWord(agent)}`).join("");
  const passed = passEnv.length === 0 ? "" : ` --pass-env ${passEnv.join(",")}`;
  return `harness chat --session ${shellWord(sessionId)}${where}${kept}${judge}${ruled}${harness}${used}${passed}${installedAgents ? "" : " --no-installed-agents"}`;
};

/** `harness chat`: a conversation at the terminal, or with the lines of standard input. */
export const chat = (options: ChatOptions, { version }: { readonly version: string }): Promise<ExitCode> =>
  withCleanup(async (defer) => {
    const choice = toPolicyChoice(options);
    const isKept = (options.session ?? options.continue ?? options.resume) !== undefined;
    const workspace = await (isKept ? keptWorkspace : workspaceDirectory)(options.cwd);
    if (options.store === undefined) await checkWritable(workspace);
    const model = new SwitchedModel(await openModel(options.model));
    const opened = await openConversations(conversationsIn(options, workspace), "harness chat");
    defer(() => opened.close());
    const { graph: store } = opened;
    const sessionId = await sessionIdOf(options, store);
    const judgesInHub =
      choice.kind === "hub" && (choice.state !== undefined || (await findHub()) !== undefined);
    const session = await Session.open({
      ...{ command: "harness chat" as const, version, withoutTerminal: "no-terminal" as const },
      ...{ showDone: false, policyUse: judgesInHub ? useInHub : undefined },
    });
    const { view, spinner } = session;
    const { agents, installedAgents, passEnv, policyTimeout } = options;
    const core = await openAgentCore({
      ...{ command: "chat", version, models: [options.model], agents, installedAgents, passEnv },
    });
    defer(() => core.close());
    const events = new ChatEvents((event) => view.show(event));
    const judge = await openHubJudge({
      ...{ command: "chat", workspace, version, note: session.note },
      hub: choice.kind === "hub" ? choice.state : false,
      policy: judgedBy(choice),
      policyTimeoutMs: policyTimeout && policyTimeout * 1000,
      onBlocked: (call, id) => events.blocks(call, id),
    });
    defer(() => judge?.close());
    const grants = new ProjectGrants(workspace);
    const graph = createChatGraph({
      model,
      system,
      tools: async (listing) => {
        const onOutput = (callId: string, stream: "stdout" | "stderr", text: string) =>
          events.output(callId, stream, text);
        return chatToolSet(await core.tools(listing), { directory: workspace, judge, grants, onOutput });
      },
      toolTimeoutMs: judge?.place === undefined ? toolTimeoutMs : hubToolTimeoutMs,
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
      ...{ session, sessionId, directory: workspace, events, grants },
      modelId: () => model.modelId,
      harness: judge?.conversations(harness) ?? harness,
      compact: (id, scope) => harness.compact(id, scope),
      waiting: new WaitingCalls(workspace, view.style, (callId) => judge?.asks(callId)),
      history: (id) => storedHistory(store, id),
    });
    if (options.session !== undefined && (await conversation.isNew())) await checkBegins(sessionId);
    const follow = () => session.followHub(judge?.place, conversation.sessionId, session.cancel);
    const take = async (id: string) => {
      conversation.take(id);
      await follow();
    };
    const beginAnother = async () => {
      await take(newSessionId());
      return conversation.sessionId;
    };
    const goOn = async (id: string) => {
      const title = titleOf(await storedHistory(store, id));
      if (title !== "") view.note(`going on with “${oneLine(title, 100)}”`);
    };
    const resume = async () => {
      const chosen = await pickOne(await picksOf(store), "conversation");
      if (chosen === undefined) return;
      await take(chosen);
      await goOn(chosen);
      await conversation.open();
    };
    conversation.commands = chatCommands({ conversation, view, model, openModel, beginAnother, resume });
    const lines = new LineConversation(session, conversation);
    defer(() => session.closeHub());
    defer(() => lines.close());
    defer(() => spinner?.dispose());
    await follow();
    view.note(`session ${sessionId}, model ${options.model}; commands: /help`);
    if (judge === undefined) view.warn(noPolicyText);
    if (options.continue || options.resume) await goOn(sessionId);
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
  if (others.length > 0) {
    const ids = [...new Set(others)];
    const more = ids.length > maxNamed ? ", …" : "";
    const waits = others.length === 1 ? "1 call waits" : `${others.length} calls wait`;
    view.note(
      `In other conversations, ${waits}: ${ids.slice(0, maxNamed).join(", ")}${more} (harness chat --session ID)`,
    );
  }
  view.note(`to continue: ${again}`);
  return own > 0;
};
