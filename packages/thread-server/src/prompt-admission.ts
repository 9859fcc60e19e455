import type { InputPart, ItemData } from "@harnesskit/protocol/threads";
import { defined } from "@harnesskit/wire/json";
import {
  type AskedAction,
  promptDigest,
  promptPermission,
  promptText,
  shownPrompt,
} from "./approval-answer.ts";
import { TurnError } from "./errors.ts";
import { type Decision, GatedAction } from "./gated-action.ts";
import type { JudgedPrompt, JudgedRequest } from "./gates.ts";
import { isPrompt, type Pending, readPending } from "./pending-questions.ts";
import type { Turn } from "./turn.ts";
import type { TurnRequest } from "./turn-runner.ts";

/** The item of the prompt; `stored` settles when it is. */
interface Recorded {
  readonly itemId: string;
  readonly stored: Promise<unknown>;
}

const requestChanged =
  "The policy changes a request to the model in the middle of a turn, which cannot be applied.";

/** Records what the user said, and gives it to the agent only as the gate and the user allow. */
export class PromptAdmission extends GatedAction<JudgedPrompt, { readonly text: string }, InputPart[]> {
  readonly #request: TurnRequest;
  #recorded: Recorded | undefined;

  constructor(turn: Turn, request: TurnRequest) {
    super(turn, "prompt");
    this.#request = request;
  }

  /** Writes what the user said, as an item that the agent is not given before the gate has judged it. */
  record(): Recorded {
    const turn = this.turn;
    const request = this.#request;
    const itemId = turn.settings.createId("item");
    const isJudged = turn.settings.promptGate !== undefined;
    const said = isJudged ? userMessage(request, { withheld: true }) : { content: [...request.input] };
    const recorded = [turn.log.start("user_message", itemId, said)];
    if (!isJudged) recorded.push(turn.log.complete("user_message", itemId, userMessage(request, {})));
    const stored = Promise.all(recorded);
    stored.catch(() => {});
    this.#recorded = { itemId, stored };
    return this.#recorded;
  }

  /** What the agent may have. Throws a `TurnError` with the reason where it may have nothing, the item being complete. */
  async admit(): Promise<TurnRequest> {
    const { itemId, stored } = this.#recorded ?? this.record();
    const { settings, signal } = this.turn;
    await stored;
    signal.throwIfAborted();
    if (!settings.promptGate) return this.#request;
    const judged = await this.judge(await this.#toPrompt(itemId, this.#request.input));
    signal.throwIfAborted();
    return this.#conclude(itemId, await this.decide(judged));
  }

  /**
   * What the agent may have of a prompt of an earlier server that waits for nothing: an answer that was recorded holds, and one that was
   * not judged to the end is judged again.
   */
  async readmit(): Promise<TurnRequest> {
    const { session, turnId, settings } = this.turn;
    const { state } = session;
    const open = state.openItems.find(({ item }) => item.turnId === turnId && item.type === "user_message");
    if (!open) return this.#request;
    const answered = (await readPending(state, settings.store.answerSeal)).find(isPrompt);
    if (answered) return this.resume(answered);
    this.#recorded = { itemId: open.item.itemId, stored: Promise.resolve() };
    return this.admit();
  }

  /** Goes on with a prompt of an earlier server that waits for its approval, or has its answer. */
  async resume({ item: { itemId }, question }: Pending<"user_message">): Promise<TurnRequest> {
    const { input } = this.#request;
    const { metadata } = question.data;
    const prepare = async () =>
      (await promptDigest(String(metadata.input.text), input)) === metadata.digest
        ? this.#toPrompt(itemId, input)
        : undefined;
    return this.#conclude(itemId, await this.decideAgain(question, prepare));
  }

  /** Judges a further request to the model. Throws a `TurnError` with the reason where it may not be made. */
  async judgeRequest(itemId: string, request: Pick<JudgedRequest, "step" | "added">): Promise<void> {
    const turn = this.turn;
    if (turn.settings.promptGate?.request === undefined) return;
    const prompt: JudgedRequest = { ...(await this.#toPrompt(itemId, this.#request.input)), ...request };
    const judged = await this.judge(prompt);
    turn.signal.throwIfAborted();
    if (judged.modified) throw new TurnError("policy.invalid_change", requestChanged);
    const { verdict } = judged;
    // A human was asked about the prompt: a later question has a rule that names it.
    if (verdict.verdict === "ask" && verdict.judgement?.rule === undefined) return;
    const { refused } = await this.decide(judged);
    turn.signal.throwIfAborted();
    if (refused) throw new TurnError(refused.code, refused.error);
  }

  protected before(prompt: JudgedPrompt) {
    const { settings, signal } = this.turn;
    const { promptGate } = settings;
    const isRequest = (each: JudgedPrompt): each is JudgedRequest => "step" in each;
    const verdict = isRequest(prompt)
      ? promptGate?.request?.(prompt, { signal })
      : promptGate?.before(prompt, { signal });
    return verdict ?? { verdict: "allow" as const };
  }

  protected change({ itemId, content }: JudgedPrompt, { text }: { readonly text: string }) {
    return this.#toPrompt(itemId, withText(content, text));
  }

  protected requested({ content }: JudgedPrompt): InputPart[] {
    return [...content];
  }

  protected question({ text, content, digest }: JudgedPrompt): AskedAction {
    return { permission: promptPermission, input: shownPrompt(text, content), digest };
  }

  async #toPrompt(itemId: string, content: readonly InputPart[]): Promise<JudgedPrompt> {
    const { threadId, turnId, directory } = this.turn.observed;
    const { agent, model } = this.#request;
    const text = promptText(content);
    return {
      threadId,
      turnId,
      itemId,
      directory,
      agent: agent.name,
      model,
      content,
      text,
      digest: await promptDigest(text, content),
    };
  }

  async #conclude(
    itemId: string,
    { judged, refused }: Decision<JudgedPrompt, InputPart[]>,
  ): Promise<TurnRequest> {
    const { log, signal } = this.turn;
    signal.throwIfAborted();
    const input = judged?.subject.content ?? this.#request.input;
    const request = { ...this.#request, input };
    const withheld = refused && (true as const);
    const data = userMessage(request, defined({ judgement: judged?.judgement, withheld }));
    await log.complete("user_message", itemId, data);
    if (refused) throw new TurnError(refused.code, refused.error);
    signal.throwIfAborted();
    return request;
  }
}

/** The message's item: with the turn's model and agent, for a later server. */
const userMessage = (
  { input, agent, model, compact }: TurnRequest,
  more: Pick<ItemData<"user_message">, "judgement" | "withheld">,
): ItemData<"user_message"> => ({
  content: [...input],
  agent: agent.name,
  model,
  compact,
  ...more,
});

/** The text in the place of the first one; files stay where they are. */
const withText = (content: readonly InputPart[], text: string): InputPart[] => {
  const first = content.findIndex((part) => part.type === "text");
  const kept = content.filter((part, index) => part.type === "file" || index === first);
  return first === -1
    ? [{ type: "text", text }, ...kept]
    : kept.map((part) => (part.type === "text" ? { type: "text", text } : part));
};
