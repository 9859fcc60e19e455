import type { EventBody } from "@harnesskit/protocol/threads";
import { oneLine } from "../terminal/one-line.ts";

/** Under whom a turn ran, and what became of its prompt and its calls. */
export interface JudgedSummary {
  /** Safe text. */
  readonly by: string;
  readonly allowed: number;
  readonly asked: number;
  readonly blocked: number;
  readonly changed: number;
}

/** Counts what was judged in the events of a turn. */
export class JudgedCounts {
  #by: string | undefined;
  readonly #counts = { allowed: 0, asked: 0, blocked: 0, changed: 0 };

  observe(event: EventBody): void {
    if (event.type !== "item.completed") return;
    const { item } = event.data;
    if (item.type !== "tool_exec" && item.type !== "user_message") return;
    const judgement = item.data?.judgement;
    if (!judgement) return;
    this.#by = oneLine(judgement.by, 100);
    if (judgement.modified) this.#counts.changed++;
    // The prompt says under whom; what is counted is what the agent does.
    if (item.type !== "tool_exec") return;
    if (judgement.decision === "allow") this.#counts.allowed++;
    if (judgement.decision === "ask") this.#counts.asked++;
    if (judgement.decision === "block") this.#counts.blocked++;
  }

  /** Undefined where nothing was judged. */
  get summary(): JudgedSummary | undefined {
    return this.#by === undefined ? undefined : { by: this.#by, ...this.#counts };
  }
}

/** The summary in words. */
export const judgedText = ({ by, allowed, asked, blocked, changed }: JudgedSummary): string => {
  const counts = `${allowed} allowed, ${asked} escalated, ${blocked} blocked`;
  return `under ${by}: ${counts}${changed === 0 ? "" : `, ${changed} changed`}`;
};
