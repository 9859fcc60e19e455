import type { InputPart, ItemData, ItemOf, Thread } from "@harnesskit/protocol/threads";
import { displayText, HarnessError } from "@harnesskit/wire";
import type { ActiveTurn } from "./active-turn.ts";
import type { ApprovalFlow, StandingQuestion } from "./approval-flow.ts";
import type { ApprovalAnswer } from "./approvals.ts";
import { TurnError } from "./errors.ts";
import { findGrant } from "./find-grant.ts";
import { type Modification, toItemJudgement } from "./judgement.ts";
import { promptDigest, promptText } from "./prompt-digest.ts";
import type { JudgedPrompt, PromptGate, PromptVerdict } from "./prompt-gate.ts";
import type { ServerSettings } from "./server-settings.ts";
import { asRequested } from "./standing-calls.ts";
import type { TurnRequest } from "./turn-runner.ts";

/** How often a gate may change one prompt before it is blocked. */
const maxModifications = 3;

export interface PromptJudgeOptions {
  readonly turn: ActiveTurn;
  readonly thread: Thread;
  readonly flow: ApprovalFlow;
  readonly settings: ServerSettings;
}

type FinalVerdict = Exclude<PromptVerdict, { verdict: "modify" }>;

interface Judged {
  readonly prompt: JudgedPrompt;
  readonly verdict: FinalVerdict;
  readonly modified?: Modification<InputPart[]>;
}

/** Writes down what the user said, and gives it to the agent only as the gate and the user allow. */
export class PromptJudge {
  readonly #options: PromptJudgeOptions;

  constructor(options: PromptJudgeOptions) {
    this.#options = options;
  }

  /** What the agent may have. Throws a `TurnError` with the reason where it may have nothing, the item being complete. */
  async admit(request: TurnRequest): Promise<TurnRequest> {
    const { turn, settings } = this.#options;
    const { promptGate } = settings;
    const itemId = turn.newId("item");
    if (!promptGate) {
      const said = { content: [...request.input] };
      await turn.start("user_message", itemId, said);
      await turn.complete("user_message", itemId, { ...said, ...asRequested(request) });
      turn.signal.throwIfAborted();
      return request;
    }
    await turn.start("user_message", itemId, messageOf(request, { withheld: true }));
    return this.#decide(itemId, request, promptGate);
  }

  /**
   * Goes on with a prompt of an earlier server that waits for its approval. It has to be what was shown; the gate is
   * asked again, as for a call.
   */
  async resume(
    { itemId }: ItemOf<"user_message">,
    request: TurnRequest,
    question: StandingQuestion,
    wasRequested: boolean,
  ): Promise<TurnRequest> {
    const { flow, settings } = this.#options;
    const { promptGate } = settings;
    const { metadata } = question.data;
    const verify = async () =>
      (await promptDigest(String(metadata.input.text), request.input)) === metadata.digest;
    const answer = await flow.standing(question, wasRequested, verify);
    if (!allows(answer)) return this.#withhold(itemId, request, refusal(answer), {});
    if (!promptGate) {
      const asShown = (await promptDigest(promptText(request.input), request.input)) === metadata.digest;
      return asShown ? this.#give(itemId, request, {}) : this.#withhold(itemId, request, toChanged(), {});
    }
    const judged = await this.#judge(itemId, request, promptGate);
    const said = itemJudgement(judged);
    const { verdict, prompt } = judged;
    if (verdict.verdict === "block") return this.#withhold(itemId, request, blocked(verdict), said);
    if (prompt.digest !== metadata.digest) return this.#withhold(itemId, request, toChanged(), said);
    return this.#give(itemId, { ...request, input: prompt.content }, said);
  }

  async #decide(itemId: string, request: TurnRequest, gate: PromptGate): Promise<TurnRequest> {
    const { thread, flow, settings } = this.#options;
    const judged = await this.#judge(itemId, request, gate);
    const { prompt, verdict } = judged;
    const said = itemJudgement(judged);
    const final = { ...request, input: prompt.content };
    if (verdict.verdict === "block") return this.#withhold(itemId, final, blocked(verdict), said);
    if (verdict.verdict === "allow" || (await findGrant(settings.store, thread, prompt))) {
      return this.#give(itemId, final, said);
    }
    const { answer } = await flow.askAboutPrompt(prompt, verdict.reason);
    return allows(answer)
      ? this.#give(itemId, final, said)
      : this.#withhold(itemId, final, refusal(answer), said);
  }

  /** Asks the gate, again after each change that it makes. A gate that cannot answer blocks. */
  async #judge(itemId: string, request: TurnRequest, gate: PromptGate): Promise<Judged> {
    const { turn } = this.#options;
    let prompt = await this.#toPrompt(itemId, request, request.input);
    let modified: Modification<InputPart[]> | undefined;
    for (let changes = 0; ; changes++) {
      const verdict = await this.#ask(gate, prompt, changes);
      turn.signal.throwIfAborted();
      if (verdict.verdict !== "modify") return { prompt, verdict, ...(modified && { modified }) };
      const { judgement, reason, text } = verdict;
      const { requested } = modified ?? { requested: [...request.input] };
      modified = { ...judgement, ...(reason !== undefined && { reason }), requested };
      prompt = await this.#toPrompt(itemId, request, withText(prompt.content, text));
    }
  }

  async #ask(gate: PromptGate, prompt: JudgedPrompt, changes: number): Promise<PromptVerdict> {
    const { turn, settings } = this.#options;
    try {
      const verdict = await gate.before(prompt, { signal: turn.signal });
      if (verdict.verdict !== "modify" || changes < maxModifications) return verdict;
      throw new HarnessError("gate_failed", "the gate changes the prompt again and again");
    } catch (error) {
      settings.onError(error);
      const reason = "The prompt could not be judged, so the agent does not get it.";
      return { verdict: "block", reason, code: "gate_failed" };
    }
  }

  async #toPrompt(
    itemId: string,
    { agent, model }: TurnRequest,
    content: readonly InputPart[],
  ): Promise<JudgedPrompt> {
    const { thread, turn } = this.#options;
    const { threadId, directory } = thread;
    const text = promptText(content);
    return {
      threadId,
      turnId: turn.turnId,
      itemId,
      directory,
      agent: agent.name,
      ...(model !== undefined && { model }),
      content,
      text,
      digest: await promptDigest(text, content),
    };
  }

  async #give(
    itemId: string,
    request: TurnRequest,
    said: Pick<ItemData<"user_message">, "judgement">,
  ): Promise<TurnRequest> {
    const { turn } = this.#options;
    await turn.complete("user_message", itemId, messageOf(request, said));
    turn.signal.throwIfAborted();
    return request;
  }

  async #withhold(
    itemId: string,
    request: TurnRequest,
    why: TurnError,
    said: Pick<ItemData<"user_message">, "judgement">,
  ): Promise<never> {
    const data = messageOf(request, { ...said, withheld: true });
    await this.#options.turn.complete("user_message", itemId, data);
    throw why;
  }
}

const messageOf = (
  request: TurnRequest,
  more: Pick<ItemData<"user_message">, "judgement" | "withheld">,
): ItemData<"user_message"> => ({ content: [...request.input], ...asRequested(request), ...more });

/** The text in the place of the first one; files stay where they are. */
const withText = (content: readonly InputPart[], text: string): InputPart[] => {
  const first = content.findIndex((part) => part.type === "text");
  const kept = content.filter((part, index) => part.type === "file" || index === first);
  return first === -1
    ? [{ type: "text", text }, ...kept]
    : kept.map((part) => (part.type === "text" ? { type: "text", text } : part));
};

const itemJudgement = ({ verdict, modified }: Judged): Pick<ItemData<"user_message">, "judgement"> =>
  toItemJudgement(verdict.verdict, verdict.judgement, modified);

const allows = ({ decision }: ApprovalAnswer): boolean => decision === "once" || decision === "always";

const blocked = ({ reason, code = "prompt.blocked" }: FinalVerdict & { verdict: "block" }): TurnError =>
  new TurnError(code, reason);

const toChanged = (): TurnError =>
  new TurnError("approval.changed", "The agent would get another prompt than was shown.");

/** As for a call: rejected by a client, not answered in time, no user to ask and changed are four different ends. */
const refusal = ({ reason, resolvedBy }: ApprovalAnswer): TurnError => {
  if (reason === undefined) {
    return new TurnError("prompt.rejected", `This prompt was rejected by ${displayText(resolvedBy)}.`);
  }
  switch (reason) {
    case "expired":
      return new TurnError("approval.expired", "This prompt was not approved in time.");
    case "unattended":
      return new TurnError("approval.unattended", "No user could be asked to approve this prompt.");
    case "changed":
      return toChanged();
  }
};
