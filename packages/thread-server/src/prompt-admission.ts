import type { JsonObject } from "@harnesskit/protocol/envelope";
import type { InputPart, ItemData, ItemOf } from "@harnesskit/protocol/threads";
import { digest } from "@harnesskit/wire";
import { type PendingQuestion, promptPermission } from "./approval-flow.ts";
import { TurnError } from "./errors.ts";
import { GatedStep, type GatedStepOptions, type LateDecision } from "./gated-step.ts";
import type { JudgedPrompt, JudgedRequest } from "./gates.ts";
import type { TurnRequest } from "./turn-runner.ts";

type Said = Pick<ItemData<"user_message">, "judgement">;

const notJudged = "The prompt could not be judged, so the agent does not get it.";
const texts = {
  notJudged,
  tooManyChanges: notJudged,
  changed: "The agent would get another prompt than was shown.",
  requestChanged:
    "The policy changes a request to the model in the middle of a turn, which cannot be applied.",
};

/** Records what the user said, and gives it to the agent only as the gate and the user allow. */
export class PromptAdmission {
  readonly #options: GatedStepOptions;
  readonly #request: TurnRequest;
  readonly #step: GatedStep<JudgedPrompt, { readonly text: string }, InputPart[]>;

  constructor(options: GatedStepOptions, request: TurnRequest) {
    const { turn, settings } = options;
    this.#options = options;
    this.#request = request;
    this.#step = new GatedStep(options, {
      noun: "prompt",
      prefix: "prompt",
      texts,
      before: (prompt) => {
        const { promptGate } = settings;
        const { signal } = turn;
        if (isRequest(prompt)) return promptGate?.request?.(prompt, { signal }) ?? { verdict: "allow" };
        return promptGate?.before(prompt, { signal }) ?? { verdict: "allow" };
      },
      change: (prompt, { text }) => this.#toPrompt(prompt.itemId, withText(prompt.content, text)),
      requested: ({ content }) => [...content],
      question: ({ text, content, digest }) => ({
        permission: promptPermission,
        input: shownPrompt(text, content),
        digest,
      }),
    });
  }

  /** What the agent may have. Throws a `TurnError` with the reason where it may have nothing, the item being complete. */
  async admit(): Promise<TurnRequest> {
    const { turn, settings } = this.#options;
    const request = this.#request;
    const itemId = turn.newId("item");
    if (!settings.promptGate) {
      await turn.start("user_message", itemId, { content: [...request.input] });
      return this.#give(itemId, request, {});
    }
    await turn.start("user_message", itemId, userMessage(request, { withheld: true }));
    const judged = await this.#step.judge(await this.#toPrompt(itemId, request.input));
    turn.signal.throwIfAborted();
    return this.#conclude(itemId, await this.#step.decide(judged));
  }

  /** Goes on with a prompt of an earlier server that waits for its approval. */
  async resume({ itemId }: ItemOf<"user_message">, question: PendingQuestion): Promise<TurnRequest> {
    const { input } = this.#request;
    const { metadata } = question.data;
    const verify = async () => (await promptDigest(String(metadata.input.text), input)) === metadata.digest;
    const first = async () => ({ subject: await this.#toPrompt(itemId, input) });
    return this.#conclude(itemId, await this.#step.decideAgain(question, verify, first));
  }

  /** Judges a further request to the model. Throws a `TurnError` with the reason where it may not be made. */
  async judgeRequest(itemId: string, request: Pick<JudgedRequest, "step" | "added">): Promise<void> {
    const { turn, settings } = this.#options;
    if (settings.promptGate?.request === undefined) return;
    const prompt: JudgedRequest = { ...(await this.#toPrompt(itemId, this.#request.input)), ...request };
    const judged = await this.#step.judge(prompt);
    turn.signal.throwIfAborted();
    if (judged.modified) throw new TurnError("policy.invalid_change", texts.requestChanged);
    const { verdict } = judged;
    // A human was asked about the prompt: a later question has a rule that names it.
    if (verdict.verdict === "ask" && verdict.judgement?.rule === undefined) return;
    const { refused } = await this.#step.decide(judged);
    turn.signal.throwIfAborted();
    if (refused) throw new TurnError(refused.code, refused.error);
  }

  async #toPrompt(itemId: string, content: readonly InputPart[]): Promise<JudgedPrompt> {
    const { thread, turn } = this.#options;
    const { agent, model } = this.#request;
    const { threadId, directory } = thread;
    const text = promptText(content);
    return {
      threadId,
      turnId: turn.turnId,
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
    { judged, refused }: LateDecision<JudgedPrompt, InputPart[]>,
  ): Promise<TurnRequest> {
    this.#options.turn.signal.throwIfAborted();
    const input = judged?.subject.content ?? this.#request.input;
    const said = judged?.said ?? {};
    const request = { ...this.#request, input };
    if (!refused) return this.#give(itemId, request, said);
    const data = userMessage(request, { ...said, withheld: true });
    await this.#options.turn.complete("user_message", itemId, data);
    throw new TurnError(refused.code, refused.error);
  }

  async #give(itemId: string, request: TurnRequest, said: Said): Promise<TurnRequest> {
    const { turn } = this.#options;
    await turn.complete("user_message", itemId, userMessage(request, said));
    turn.signal.throwIfAborted();
    return request;
  }
}

const isRequest = (prompt: JudgedPrompt): prompt is JudgedRequest => "step" in prompt;

/** The message's item: with the turn's model and agent, for a later server. */
const userMessage = (
  { input, agent, model }: TurnRequest,
  more: Said & Pick<ItemData<"user_message">, "withheld">,
): ItemData<"user_message"> => ({
  content: [...input],
  agent: agent.name,
  model,
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

/** A prompt as a string, as a human is shown it. */
const promptText = (content: readonly InputPart[]): string =>
  content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");

/** What a human is shown of a prompt: its text, and the files of its content. */
const shownPrompt = (text: string, content: readonly InputPart[]) => {
  const files = content.filter((part) => part.type === "file");
  return files.length === 0 ? { text } : { text, files: files.map((part) => ({ ...part }) as JsonObject) };
};

/** What the approval of a prompt binds: what is shown, in the same way as a tool call. */
export const promptDigest = (text: string, content: readonly InputPart[]): Promise<string> =>
  digest({ tool: promptPermission, input: shownPrompt(text, content) });
