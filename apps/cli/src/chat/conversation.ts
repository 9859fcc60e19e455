import { type ChatHarness, ChatHarnessError, failureOfText } from "@harnesskit/chat-harness";
import type { ChatEvent } from "@harnesskit/chat-harness/ai-sdk";
import type { ChatMessage, ChatTurnOutcome } from "@harnesskit/protocol/chat";
import { attachedMessage, type ChatConversations } from "@harnesskit/shell-engine-chat";
import { ExitCode } from "../cli-error.ts";
import { mentionedFiles, missingMention } from "../mentioned-files.ts";
import { readWorkspaceFile } from "../serve/agent-loop.ts";
import type { Session } from "../session/session.ts";
import type { AnswerCommand, LineActions, LineCommand } from "../terminal/line-conversation.ts";
import { modelLabel } from "../terminal/spinner.ts";
import { alwaysChoices } from "../timeline/asked-call.ts";
import { conversationEnd, errorExitCode, RefusedCalls } from "../timeline/outcomes.ts";
import type { ChatEvents } from "./chat-events.ts";
import type { ProjectGrants } from "./project-grants.ts";
import { TokenCounts } from "./token-counts.ts";
import {
  answerSignal,
  answersText,
  type ShownCall,
  type WaitingCalls,
  wasCancelled,
} from "./waiting-calls.ts";

export interface ConversationOptions {
  /** Shows it, and asks where it can: elsewhere an answer comes as a line. */
  readonly session: Session;
  readonly sessionId: string;
  /** The workspace: where `@FILE` is looked for. */
  readonly directory: string;
  readonly harness: ChatConversations;
  /** No prompt of the user's: no hub judges it. */
  readonly compact: ChatHarness["compact"];
  readonly events: ChatEvents;
  /** Where answers for always are kept. */
  readonly grants: ProjectGrants;
  /** The id of the model that is asked now. */
  readonly modelId: () => string;
  readonly waiting: WaitingCalls;
  readonly history: (sessionId: string) => Promise<readonly ChatMessage[]>;
}

/** One conversation at a terminal: messages, pending approvals and answers. */
export class Conversation implements LineActions {
  commands: readonly LineCommand[] = [];
  tokens = new TokenCounts();
  #sessionId: string;
  readonly #options: ConversationOptions;
  readonly #shown = new Set<string>();
  /** Of all turns. */
  readonly #refused = new RefusedCalls();
  #failure: ExitCode | undefined;

  constructor(options: ConversationOptions) {
    this.#options = options;
    this.#sessionId = options.sessionId;
  }

  get sessionId(): string {
    return this.#sessionId;
  }

  get directory(): string {
    return this.#options.directory;
  }

  /** Leaves the conversation as it is, and takes another one. */
  take(sessionId: string): void {
    this.#sessionId = sessionId;
    this.tokens = new TokenCounts();
    this.#options.waiting.clear();
  }

  pendingIds(): readonly string[] {
    return this.#options.waiting.ids;
  }

  /** The exit code of the last turn that failed, else that of calls that did not run; undefined where there is nothing of both. */
  get exitCode(): ExitCode | undefined {
    return this.#failure ?? this.#refused.exitCode;
  }

  observe(event: ChatEvent): void {
    const { events } = this.#options;
    const { view } = this.#options.session;
    if (event.sessionId !== this.#sessionId) return;
    this.tokens.observe(event, this.#options.modelId());
    this.#shown.add(event.invocationId);
    events.progress(event);
    const failure = event.type === "result" ? failureOfText(event.content) : undefined;
    if (failure !== undefined) this.#refused.add(conversationEnd(failure));
    if (event.type === "model_failed" && event.isRetried) view.warn(`${event.reason}; asking again`);
    if (event.type === "model_ended" && event.reason === "length")
      view.warn("(the answer was cut at the model's limit)");
  }

  /** Nothing was said in it, and nothing waits. */
  async isNew(): Promise<boolean> {
    const { harness, history } = this.#options;
    const { suspended, undelivered } = await harness.pending(this.#sessionId);
    return suspended.length + undelivered.length === 0 && (await history(this.#sessionId)).length === 0;
  }

  async open(): Promise<void> {
    const { harness } = this.#options;
    const { view } = this.#options.session;
    const sessionId = this.#sessionId;
    const before = await harness.pending(sessionId);
    if (before.suspended.some((turn) => turn.is_signal_accepted)) {
      view.note("The last turn was cut off after its answer: it goes on once no other process has it …");
    }
    this.#begin("waiting for the conversation");
    await harness.recover();
    this.#rest();
    view.breakLine();
    for (const { invocation_id: id, turn } of (await harness.pending(sessionId)).undelivered) {
      if (!this.#shown.has(id)) {
        view.note("An earlier turn has ended:");
        this.#begin();
        if (turn.outcome === "completed") this.#options.events.recall(turn.replies);
        this.#over(turn);
      }
      await harness.acknowledge(id);
    }
    await this.showPending();
  }

  #begin(label = modelLabel): void {
    const { events, session } = this.#options;
    events.begin();
    session.spinner?.work(label);
  }

  #rest(): void {
    this.#options.events.endMessage();
    this.#options.session.spinner?.rest();
  }

  #over(turn: ChatTurnOutcome): void {
    const { events } = this.#options;
    const { view } = this.#options.session;
    this.#rest();
    if (turn.outcome === "completed" && !events.hasSpoken) view.note("(no answer)");
    events.end(turn);
  }

  async showPending(): Promise<number> {
    const { harness, waiting } = this.#options;
    waiting.clear();
    const { suspended } = await harness.pending(this.#sessionId);
    const history = suspended.length === 0 ? [] : await this.#options.history(this.#sessionId);
    for (const turn of suspended) {
      this.#show(await waiting.add(turn, history));
    }
    return suspended.length;
  }

  /** How many calls wait here, and the conversations in which others do: one id for each call. */
  async pendingCounts(): Promise<{ readonly own: number; readonly others: readonly string[] }> {
    const { harness, history } = this.#options;
    const others: string[] = [];
    let own = 0;
    for (const turn of (await harness.pending()).suspended) {
      const { session_id: id } = turn;
      if (wasCancelled(turn, id === null ? [] : await history(id))) continue;
      if (id === null || id === this.#sessionId) own++;
      else others.push(id);
    }
    return { own, others };
  }

  async say(text: string): Promise<void> {
    const turn = await this.#run(async (signal) => {
      const message = await this.#messageOf(text, signal);
      return this.#options.harness.send(this.#sessionId, message, { signal });
    });
    if (turn !== undefined) await this.#ended(turn);
  }

  /** The files that a message names as `@PATH` go with it. */
  async #messageOf(text: string, signal: AbortSignal): Promise<ChatMessage> {
    const { directory, session } = this.#options;
    const { files, missing } = await mentionedFiles(text, directory);
    for (const path of missing) session.view.warn(missingMention(path));
    const attachments = files.map((path) => ({ ref_id: path, filename: path }));
    const { message, dropped } = await attachedMessage(
      { intent: text, attachments, signal },
      { read: ({ ref_id: path = "" }, scope) => readWorkspaceFile(path, { ...scope, directory }) },
    );
    if (dropped !== undefined) session.view.warn(dropped);
    return message ?? { role: "user", content: text };
  }

  /** Has the model make a summary of what was said; the view shows it as one that the model makes by itself. */
  async compact(): Promise<void> {
    const { events, compact, session } = this.#options;
    const end = await this.#run((signal) => compact(this.#sessionId, { signal }));
    if (end?.outcome === "errored") await this.#ended(end);
    if (end?.outcome !== "completed") return;
    events.end({ outcome: "completed", replies: [] });
    if (end.summary === null)
      session.view.note("Nothing to summarise: nothing was said since the last summary.");
  }

  async answer(command: AnswerCommand): Promise<void> {
    const { harness, waiting } = this.#options;
    const { view } = this.#options.session;
    const call = waiting.find(command.id);
    if (typeof call === "string") {
      view.warn(call);
      return;
    }
    const signal = await this.#run((abort) =>
      harness.signal(answerSignal(call, this.#sessionId, command), { signal: abort }),
    );
    if (signal === undefined) {
      await this.showPending();
      return;
    }
    if (signal.outcome === "errored") {
      this.#over(signal);
      await this.showPending();
      return;
    }
    waiting.remove(call);
    if (signal.outcome === "already_resolved") {
      view.warn("It was already answered, perhaps in another window.");
      return;
    }
    await this.#ended(signal.turn);
    if (signal.turn.outcome !== "suspended") await harness.acknowledge(signal.invocation_id);
  }

  async #run<T>(turn: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
    const { session } = this.#options;
    let isCancelled = false;
    this.#begin();
    try {
      return await session.cancellable((signal) => {
        signal.addEventListener("abort", () => (isCancelled = true), { once: true });
        return turn(signal);
      });
    } catch (error) {
      if (!ChatHarnessError.isInstance(error)) throw error;
      if (!isCancelled) this.#failure = ExitCode.failed;
      session.view.warn(isCancelled ? "○ cancelled" : `✗ ${error.message}`);
      return undefined;
    } finally {
      this.#rest();
    }
  }

  async #ended(turn: ChatTurnOutcome): Promise<void> {
    const { waiting } = this.#options;
    if (turn.outcome === "errored") this.#failure = errorExitCode(turn.error_category);
    this.#over(turn);
    if (turn.outcome !== "suspended") return;
    const shown = await waiting.add(turn);
    if (this.#options.session.mode !== "ask") this.#show(shown.filter(({ wasShown }) => wasShown !== true));
    else await this.#askFirst(shown);
  }

  #show(shown: readonly ShownCall[]): void {
    for (const { lines, call } of shown) {
      this.#options.session.view.lines(call === undefined ? lines : [...lines, answersText(call.id)]);
    }
  }

  /** Asks about the first call that waits; the turn as its answer leaves it asks about the next. */
  async #askFirst(shown: readonly ShownCall[]): Promise<void> {
    const { session } = this.#options;
    const { view } = session;
    this.#show(shown.filter(({ call }) => call === undefined));
    const waiting = shown.filter(({ call }) => call !== undefined);
    const [{ lines, call } = { lines: [], call: undefined }] = waiting;
    if (call === undefined) return;
    if (waiting.length > 1) view.note(`${waiting.length} calls of this step wait; this is the first:`);
    const { request } = call;
    const always = request.problem === undefined ? alwaysChoices(request, this.directory) : [];
    const question = { lines, always, canWait: true };
    const reply = await session.cancellable((signal) => session.ask(question, signal));
    if (typeof reply !== "object") view.note(answersText(call.id));
    else if (reply.decision === "approve") {
      const { grants } = this.#options;
      if (reply.always) await grants.add(request, reply.always, this.#sessionId, request.call_id);
      await this.answer({ kind: "approve", id: call.id });
    } else await this.answer({ kind: "reject", id: call.id, reason: reply.reason });
  }
}
