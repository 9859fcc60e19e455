import { Store } from "@harnesskit/hub-web/store";
import { ShellCapability, type ShellError } from "@harnesskit/protocol/openharness";
import {
  type ApprovalAsk,
  type ApprovalReply,
  createShellClient,
  type EngineEndpoint,
  type ShellClient,
  ShellClientError,
  type ShellOutcome,
  type ShellSession,
  toAttachmentRef,
} from "@harnesskit/shell-client";
import { safeLine } from "@harnesskit/shell-client/cards";
import { randomId } from "@harnesskit/wire";
import type { ConversationStore } from "./conversation-store.ts";
import { approvalQuestion, cardEntry, messageEntry, unshownTexts } from "./directive-entry.ts";
import type { ApprovalState, Entry, Sending } from "./entries.ts";
import { EntryList } from "./entry-list.ts";
import { errorText } from "./error-text.ts";
import { nextPreview, type PreviewPart } from "./preview.ts";

export interface ChatState {
  readonly entries: readonly Entry[];
  /** What runs: a request, or the answer to the approval with this id. */
  readonly busy: { readonly answering: string | undefined } | undefined;
  /** What the engine is about to answer. */
  readonly preview: readonly PreviewPart[];
}

export interface ChatSessionOptions {
  readonly engine: EngineEndpoint;
  readonly sessionId: string;
  readonly store: ConversationStore;
}

type Answer = Exclude<ApprovalReply, string>;

/** What the answer to an approval came to where it failed. Undefined: it can be tried again. */
const stateAfter = ({ code, retryable }: ShellError): Exclude<ApprovalState, "open"> | undefined => {
  if (code === "continuation_used") return "elsewhere";
  if (code === "continuation_expired" || code === "invalid_continuation") return "gone";
  if (code === "approval_mismatch") return "gone";
  return retryable === true || code === "cancelled" || code === "unauthorized" ? undefined : "gone";
};

/** One conversation with one engine: what was said, what waits, and the request in progress. */
export class ChatSession {
  readonly state: Store<ChatState>;
  readonly #options: ChatSessionOptions;
  /** Questions of this page, by entry. */
  readonly #asked = new Map<string, (reply: ApprovalReply | undefined) => void>();
  readonly #denied = new Set<string>();
  #session: ShellSession;
  readonly #entries: EntryList;
  #preview: readonly PreviewPart[] = [];
  #busy: { readonly controller: AbortController; readonly answering: string | undefined } | undefined;

  constructor(options: ChatSessionOptions) {
    const { store, sessionId } = options;
    this.#options = options;
    const kept = store.load();
    this.#session = kept.session ?? { sessionId };
    this.#entries = new EntryList(kept.entries, {
      store,
      session: () => this.#session,
      onChange: () => this.#changed(),
    });
    this.state = new Store<ChatState>({ entries: this.#entries.all, busy: undefined, preview: [] });
  }

  /** Says something to the engine. */
  async send(sending: Sending): Promise<void> {
    if (this.#busy) return;
    const { intent, attachments = [] } = sending;
    const names = attachments.map((reference) => `[attached: ${safeLine(reference)}]`);
    this.#entries.add({ kind: "user", text: [intent, ...names].join("\n") });
    await this.#send({ ...sending, requestId: randomId("req") });
  }

  /** Asks what waits, and what has ended meanwhile: a request without an intent, in a session that others have begun. */
  async catchUp(): Promise<void> {
    if (this.#busy) return;
    await this.#run(
      undefined,
      (client, signal) => client.send({ signal }),
      ({ error }) => {
        if (error !== undefined) this.#showError(error, undefined);
      },
    );
  }

  /** Sends again what failed, as the same request: an engine that has done it does it no second time. */
  async again(entryId: string): Promise<void> {
    const entry = this.#entries.find(entryId);
    if (this.#busy || entry?.kind !== "error" || entry.again === undefined || entry.isSettled) return;
    this.#entries.replace({ ...entry, isSettled: true });
    await this.#send(entry.again);
  }

  /** Sends what a form was filled with. */
  async submit(entryId: string, sending: Sending): Promise<void> {
    const entry = this.#entries.find(entryId);
    if (this.#busy || entry?.kind !== "card" || entry.isSettled) return;
    this.#entries.replace({ ...entry, isSettled: true });
    await this.send(sending);
  }

  /** Answers an approval. */
  async answer(entryId: string, answer: Answer): Promise<void> {
    const entry = this.#entries.find(entryId);
    if (entry?.kind !== "approval" || entry.state !== "open") return;
    const { pending } = entry;
    const asked = this.#asked.get(entryId);
    if (asked) {
      this.#entries.settle(entryId, answer.decision, answer.reason);
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
          this.#entries.settle(entryId, answer.decision, answer.reason);
          return;
        }
        const end = stateAfter(error);
        if (end !== undefined) this.#entries.settle(entryId, end);
        if (end !== "elsewhere") this.#showError(error, undefined);
      },
    );
  }

  /** Gives up the request in progress. */
  cancel(): void {
    this.#busy?.controller.abort();
  }

  /** Takes up what another tab has kept. */
  takeUp(): void {
    const { session, entries } = this.#options.store.load();
    if (session && !this.#busy) this.#session = session;
    this.#entries.take(entries);
  }

  async #send(sending: Sending): Promise<void> {
    const { intent, taskHint, attachments = [], requestId = randomId("req") } = sending;
    const again: Sending = { ...sending, requestId };
    const ask = {
      intent,
      taskHint,
      attachments: attachments.length === 0 ? undefined : attachments.map(toAttachmentRef),
    };
    await this.#run(
      undefined,
      (client, signal) => client.send({ ...ask, signal }),
      ({ error }) => {
        if (error !== undefined) {
          const isRetryable = error.retryable === true || error.code === "cancelled";
          this.#showError(error, isRetryable ? again : undefined);
        }
      },
      { requestId, attachments },
    );
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
      for (const pending of outcome.pendingApprovals) this.#entries.ask(pending);
      for (const text of unshownTexts(outcome)) this.#entries.add({ kind: "note", text });
    } catch (error) {
      if (!ShellClientError.isInstance(error)) throw error;
      onOutcome({ error: { code: error.code, message: error.message, retryable: error.retryable } });
    } finally {
      this.#preview = [];
      this.#busy = undefined;
      for (const give of this.#asked.values()) give(undefined);
      this.#entries.save();
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
      capabilities: attachments.length > 0 ? { [ShellCapability.AttachmentUpload]: true } : undefined,
      executors: {
        render_message: (directive) => this.#entries.add(messageEntry(directive)),
        render_ui: (directive) => this.#entries.add(cardEntry(directive)),
      },
      approve: (ask) => this.#approve(ask),
      onStream: (event) => {
        this.#preview = nextPreview(this.#preview, event);
        this.#changed();
      },
      onDenials: (denials) => {
        for (const { capability, message } of denials) {
          // Without streams the answers are the same.
          if (capability === ShellCapability.Streaming) continue;
          const isUpload = capability === ShellCapability.AttachmentUpload;
          if (this.#denied.has(capability) && !isUpload) continue;
          this.#denied.add(capability);
          const dropped = isUpload ? `; not taken: ${safeLine(attachments.join(", "))}` : "";
          const why = `${message === undefined ? "" : `: ${safeLine(message)}`}${dropped}`;
          this.#entries.add({
            kind: "note",
            text: `The engine does not offer ${safeLine(capability)}${why}`,
          });
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
    const question = approvalQuestion(directive, riskTier);
    const id = this.#entries.add({
      kind: "approval",
      question,
      pending: undefined,
      state: "open",
      reason: undefined,
    });
    return new Promise((resolve) => {
      const give = (reply: ApprovalReply | undefined) => {
        this.#asked.delete(id);
        if (reply === undefined) this.#entries.settle(id, "gone");
        resolve(reply);
      };
      this.#asked.set(id, give);
      signal.addEventListener("abort", () => this.#asked.get(id)?.(undefined), { once: true });
    });
  }

  #showError({ code, message }: Pick<ShellError, "code" | "message">, again: Sending | undefined): void {
    this.#entries.add({
      kind: "error",
      code: safeLine(code, 100),
      text: errorText(code, message),
      again,
      isSettled: false,
    });
  }

  #changed(): void {
    const busy = this.#busy && { answering: this.#busy.answering };
    this.state.set({ entries: this.#entries.all, busy, preview: this.#preview });
  }
}
