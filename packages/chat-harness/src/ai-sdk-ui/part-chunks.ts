import { defined } from "@harnesskit/wire/json";
import type { HarnessUIMessageChunk, HarnessUIPart } from "./message-types.ts";

type Chunk = HarnessUIMessageChunk;
type CallPart = Extract<HarnessUIPart, { type: "dynamic-tool" }>;

/** The end of a call, or its question. */
const endOf = ({ toolCallId, ...part }: CallPart): Chunk[] => {
  switch (part.state) {
    case "approval-requested":
      return [{ type: "tool-approval-request", approvalId: part.approval.id, toolCallId }];
    case "output-available":
      return [{ type: "tool-output-available", toolCallId, output: part.output, dynamic: true }];
    case "output-error":
      return [{ type: "tool-output-error", toolCallId, errorText: part.errorText, dynamic: true }];
    case "output-denied":
      return [
        { type: "tool-approval-request", approvalId: part.approval.id, toolCallId },
        { type: "tool-output-denied", toolCallId },
      ];
    default:
      return [];
  }
};

/** A message is made of one turn: its steps, and ids that no two of its texts share. */
export class PartChunks {
  readonly #prefix: string;
  #isStepOpen = false;
  #texts = 0;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** Begins a step behind the one that is open. */
  step(): Chunk[] {
    const chunks: Chunk[] = [...this.close(), { type: "start-step" }];
    this.#isStepOpen = true;
    return chunks;
  }

  /** A step is open from here on. */
  ensureStep(): Chunk[] {
    return this.#isStepOpen ? [] : this.step();
  }

  close(): Chunk[] {
    if (!this.#isStepOpen) return [];
    this.#isStepOpen = false;
    return [{ type: "finish-step" }];
  }

  textId(): string {
    return `${this.#prefix}.${++this.#texts}`;
  }

  /** The chunks that make these parts. */
  of(parts: readonly HarnessUIPart[]): Chunk[] {
    return parts.flatMap((part) => this.#of(part));
  }

  #of(part: HarnessUIPart): Chunk[] {
    if (part.type === "step-start") return this.step();
    const begin = this.ensureStep();
    if (part.type === "text" || part.type === "reasoning") {
      const id = this.textId();
      const { type, text: delta } = part;
      return [
        ...begin,
        { type: `${type}-start`, id },
        { type: `${type}-delta`, id, delta },
        { type: `${type}-end`, id },
      ];
    }
    if (part.type === "dynamic-tool") {
      const { toolCallId, toolName, input, providerExecuted } = part;
      const call = defined({
        toolCallId,
        toolName,
        input,
        dynamic: true,
        providerExecuted: providerExecuted || undefined,
      });
      return [...begin, { type: "tool-input-available", ...call }, ...endOf(part)];
    }
    if (!part.type.startsWith("data-") || !("data" in part)) return begin;
    const { type, id, data } = part as {
      readonly type: "data-x";
      readonly id?: string;
      readonly data: unknown;
    };
    return [...begin, defined({ type, id, data })];
  }
}
