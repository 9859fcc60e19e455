import { ShellCapability, type ShellError } from "@harnesskit/protocol/openharness";
import {
  type ApprovalAsk,
  type ApprovalReply,
  createShellClient,
  type EngineEndpoint,
  type PendingApproval,
  type ShellClient,
  ShellClientError,
  type ShellOutcome,
  type ShellSession,
  toAttachmentRef,
} from "@harnesskit/shell-client";
import { randomId } from "@harnesskit/wire";
import type { Shelf } from "./access.ts";
import type { ConversationStore } from "./conversation-store.ts";
import { approvalEntry, cardEntry, messageEntry, questionOf } from "./directive-entry.ts";
import {
  type ApprovalEntry,
  type ApprovalState,
  type Entry,
  mergeEntries,
  type NewEntry,
  type Sending,
} from "./entries.ts";
import { errorText } from "./error-text.ts";
import { UnderWay } from "./under-way.ts";
import { safeLine } from "./values.ts";

export interface ChatState {
  readonly entries: readonly Entry[];
  /** What runs: a request, or the answer to the approval with this id. */
  readonly busy: { readonly answering: string | undefined } | undefined;
}

export interface ChatSessionOptions {
  readonly engine: EngineEndpoint;
  readonly sessionId: string;
  readonly store: ConversationStore;
  /** This tab's: what was under way when it was reloaded. */
  readonly tab: Shelf;
  readonly onChange: (state: ChatState) => void;
  /** @default the real time */
  readonly now?: () => number;
}

type Answer = Exclude<ApprovalReply, string>;

/** What the answer to an approval came to where it failed. Undefined: it can be tried again. */
const endOf = ({ code, retryable }: ShellError): Exclude<ApprovalState, "open"> | undefined => {
  if (code === "continuation_used") return "elsewhere";
  if (code === "continuation_expired" || code === "invalid_continuation") return "gone";
  if (code === "approval_mismatch") return "gone";
  return retryable === true || code === "cancelled" || code === "unauthorized" ? undefined : "gone";
};

/** One conversation with one engine: what was said, what waits, and what is under way. */
export class ChatSession {
  readonly #options: ChatSessionOptions;
  readonly #now: () => number;
  readonly #underWay: UnderWay;
  /** Questions of this page, by entry. */
  readonly #asked = new Map<string, (reply: ApprovalReply | undefined) => void>();
  readonly #denied = new Set<string>();
  #session: ShellSession;
  #entries: readonly Entry[];
  #busy: { readonly controller: AbortController; readonly answering: string | undefined } | undefined;
  #last = 0;

  constructor(options: ChatSessionOptions) {
    const { store, tab, sessionId, now = Date.now } = options;
    this.#options = options;
    this.#now = now;
    const kept = store.load();
    this.#session = kept.session ?? { sessionId };
    this.#entries = kept.entries.map((entry) =>
      // Who asked it was the page before the reload.
      entry.kind === "approval" && entry.state === "open" && entry.pending === undefined
        ? { ...entry, state: "gone" }
        : entry,
    );
    this.#underWay = new UnderWay(tab, store.key);
    const left = this.#underWay.take();
    if (left !== undefined) {
      this.#add({
        kind: "error",
        code: "left",
        text: errorText("left", undefined),
        again: left,
        isSettled: false,
      });
    }
  }

  get state(): ChatState {
    const busy = this.#busy && { answering: this.#busy.answering };
    return { entries: this.#entries, busy };
  }

  /** Says something to the engine. */
  async send(sending: Sending): Promise<void> {
    if (this.#busy) return;
    const { intent, attachments = [] } = sending;
    const names = attachments.map((reference) => `[attached: ${safeLine(reference)}]`);
    this.#add({ kind: "user", text: [intent, ...names].join("\n") });
    await this.#send({ ...sending, requestId: randomId("req") });
  }

  /** Asks what waits, and what has ended meanwhile: a request without an intent, in a session that others have begun. */
  async catchUp(): Promise<void> {
    if (this.#busy) return;
    await this.#run(
      undefined,
      (client, signal) => client.send({ signal }),
      ({ error }) => {
        if (error !== undefined) this.#tellError(error, undefined);
      },
    );
  }

  /** Sends again what failed, as the same request: an engine that has done it does it no second time. */
  async again(entryId: string): Promise<void> {
    const entry = this.#entries.find(({ id }) => id === entryId);
    if (this.#busy || entry?.kind !== "error" || entry.again === undefined || entry.isSettled) return;
    this.#replace({ ...entry, isSettled: true });
    await this.#send(entry.again);
  }

  /** Sends what a form was filled with. */
  async submit(entryId: string, sending: Sending): Promise<void> {
    const entry = this.#entries.find(({ id }) => id === entryId);
    if (this.#busy || entry?.kind !== "card" || entry.isSettled) return;
    this.#replace({ ...entry, isSettled: true });
    await this.send(sending);
  }

  /** Answers an approval. */
  async answer(entryId: string, answer: Answer): Promise<void> {
    const entry = this.#entries.find(({ id }) => id === entryId);
    if (entry?.kind !== "approval" || entry.state !== "open") return;
    const { pending } = entry;
    const asked = this.#asked.get(entryId);
    if (asked) {
      this.#settle(entryId, answer.decision, answer.reason);
      asked(answer);
      return;
    }
    if (this.#busy || pending === undefined) return;
    await this.#run(
      entryId,
      (client, signal) => client.answer(pending, answer, { signal }),
      (outcome) => {
        const { error } = outcome;
        if (error === undefined) {
          this.#settle(entryId, answer.decision, answer.reason);
          return;
        }
        const end = endOf(error);
        if (end !== undefined) this.#settle(entryId, end, undefined);
        if (end !== "elsewhere") this.#tellError(error, undefined);
      },
    );
  }

  /** Gives up what is under way. */
  cancel(): void {
    this.#busy?.controller.abort();
  }

  /** Takes up what another tab has kept. */
  takeUp(): void {
    const { session, entries } = this.#options.store.load();
    if (session && !this.#busy) this.#session = session;
    this.#entries = mergeEntries(this.#entries, entries);
    this.#changed();
  }

  async #send(sending: Sending): Promise<void> {
    const { intent, taskHint, attachments = [], requestId = randomId("req") } = sending;
    const again: Sending = { ...sending, requestId };
    this.#underWay.put(again);
    const ask = {
      intent,
      ...(taskHint === undefined ? {} : { taskHint }),
      ...(attachments.length === 0 ? {} : { attachments: attachments.map(toAttachmentRef) }),
    };
    await this.#run(
      undefined,
      (client, signal) => client.send({ ...ask, signal }),
      ({ error }) => {
        if (error !== undefined) {
          const isRetryable = error.retryable === true || error.code === "cancelled";
          this.#tellError(error, isRetryable ? again : undefined);
        }
      },
      { requestId, attachments },
    );
    this.#underWay.clear();
  }

  async #run(
    answering: string | undefined,
    call: (client: ShellClient, signal: AbortSignal) => Promise<ShellOutcome>,
    onOutcome: (outcome: Pick<ShellOutcome, "error">) => void,
    sent: Pick<Sending, "requestId" | "attachments"> = {},
  ): Promise<void> {
    const controller = new AbortController();
    this.#busy = { controller, answering };
    this.#changed();
    const client = this.#client(sent);
    try {
      const outcome = await call(client, controller.signal);
      this.#session = client.session;
      onOutcome(outcome);
      for (const pending of outcome.pendingApprovals) this.#wait(pending);
      this.#tellUnshown(outcome);
    } catch (error) {
      if (!ShellClientError.isInstance(error)) throw error;
      onOutcome({ error: { code: error.code, message: error.message, retryable: error.retryable } });
    } finally {
      this.#busy = undefined;
      for (const give of this.#asked.values()) give(undefined);
      this.#keep();
      await client.close();
    }
  }

  /** A client for one call. The call's first request gets the id, where one is given. */
  #client({ requestId, attachments = [] }: Pick<Sending, "requestId" | "attachments">): ShellClient {
    let first = requestId;
    return createShellClient({
      engine: this.#options.engine,
      shell: { shell_kind: "dev.harnesskit.web_shell" },
      session: this.#session,
      ...(attachments.length > 0 && { capabilities: { [ShellCapability.AttachmentUpload]: true } }),
      executors: {
        render_message: (directive) => this.#add(messageEntry(directive)),
        render_ui: (directive) => this.#add(cardEntry(directive)),
      },
      approve: (ask) => this.#approve(ask),
      onDenials: (denials) => {
        for (const { capability, message } of denials) {
          const isUpload = capability === ShellCapability.AttachmentUpload;
          if (this.#denied.has(capability) && !isUpload) continue;
          this.#denied.add(capability);
          const dropped = isUpload ? `; not taken: ${safeLine(attachments.join(", "))}` : "";
          const why = `${message === undefined ? "" : `: ${safeLine(message)}`}${dropped}`;
          this.#add({ kind: "note", text: `The engine does not offer ${safeLine(capability)}${why}` });
        }
      },
      createId: (prefix) => {
        const id = prefix === "req" ? first : undefined;
        if (id !== undefined) first = undefined;
        return id ?? randomId(prefix);
      },
    });
  }

  /** An engine's question waits as long as it likes; one of this page is put now. */
  #approve({
    directive,
    riskTier,
    why,
    signal,
  }: ApprovalAsk): Promise<ApprovalReply | undefined> | undefined {
    if (why === "engine") return undefined;
    const question = questionOf(directive, riskTier);
    const id = this.#add({
      kind: "approval",
      question,
      pending: undefined,
      state: "open",
      reason: undefined,
    });
    return new Promise((resolve) => {
      const give = (reply: ApprovalReply | undefined) => {
        this.#asked.delete(id);
        if (reply === undefined) this.#settle(id, "gone", undefined);
        resolve(reply);
      };
      this.#asked.set(id, give);
      signal.addEventListener("abort", () => this.#asked.get(id)?.(undefined), { once: true });
    });
  }

  /** Shows a question of the engine; one that is asked once more moves down, with what answers it now. */
  #wait(pending: PendingApproval): void {
    const before = this.#entries.find((entry) => entry.kind === "approval" && isSameQuestion(entry, pending));
    if (before?.kind !== "approval") this.#add(approvalEntry(pending));
    else this.#replace({ ...before, pending, atMs: this.#nextMs() });
  }

  /** Says what was left out and has no text of its own, and which approval could not be asked. */
  #tellUnshown({ results }: ShellOutcome): void {
    for (const { directive, outcome, error, shownInstead } of results) {
      const type = safeLine(directive.action_type, 100);
      const why = safeLine(error?.message ?? "");
      const isQuestion = directive.action_type === "request_approval";
      if (outcome === "skipped_unknown" && directive.requires_user_approval === true) {
        this.#add({ kind: "note", text: `An approval could not be asked: this page cannot do ${type}.` });
      } else if (outcome === "skipped_unknown" && shownInstead === undefined) {
        this.#add({ kind: "note", text: `The engine sent something that this page cannot do (${type}).` });
      } else if ((outcome === "failed" || outcome === "expired") && isQuestion) {
        this.#add({ kind: "note", text: `An approval could not be asked: ${why}` });
      } else if ((outcome === "failed" || outcome === "expired") && shownInstead === undefined) {
        this.#add({ kind: "note", text: `Something was not shown (${type}): ${why}` });
      }
    }
  }

  #tellError({ code, message }: ShellError, again: Sending | undefined): void {
    this.#add({
      kind: "error",
      code: safeLine(code, 100),
      text: errorText(code, message),
      again,
      isSettled: false,
    });
  }

  #settle(id: string, state: Exclude<ApprovalState, "open">, reason: string | undefined): void {
    const entry = this.#entries.find((other) => other.id === id);
    if (entry?.kind === "approval" && entry.state === "open") this.#replace({ ...entry, state, reason });
  }

  #add(entry: NewEntry): string {
    const id = randomId("entry");
    this.#entries = [...this.#entries, { ...entry, id, atMs: this.#nextMs() }];
    this.#keep();
    return id;
  }

  /** Entries of one moment keep their order. */
  #nextMs(): number {
    this.#last = Math.max(this.#now(), this.#last + 1);
    return this.#last;
  }

  #replace(entry: Entry): void {
    this.#entries = this.#entries.map((other) => (other.id === entry.id ? entry : other));
    this.#keep();
  }

  #keep(): void {
    this.#entries = this.#options.store.save({ entries: this.#entries, session: this.#session });
    this.#changed();
  }

  #changed(): void {
    this.#options.onChange(this.state);
  }
}

/** Whether an entry waits for the answer to a question: each time that an engine asks it, it has another token. */
const isSameQuestion = ({ state, pending }: ApprovalEntry, asked: PendingApproval): boolean =>
  state === "open" &&
  pending?.digest === asked.digest &&
  asked.continuation.run_id !== undefined &&
  pending.continuation.run_id === asked.continuation.run_id;
