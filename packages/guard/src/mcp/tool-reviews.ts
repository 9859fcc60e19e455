import { displayText } from "@harnesskit/wire";
import type { ActionJudge } from "../proxy/action-judge.ts";
import type { ToolPins } from "./tool-pins.ts";

export interface ToolReviewsOptions {
  readonly judge: ActionJudge;
  readonly pins: ToolPins;
  /** What policies call the server. */
  readonly name: string;
  /** How long a human is waited for, in milliseconds. */
  readonly holdMs: number;
  readonly signal: AbortSignal;
  /** A tool was accepted. */
  readonly onAccepted: (tool: string) => void;
}

/** Questions to a human at one time. A server that changes more tools has the others accepted by command. */
const maxOpen = 16;
/** Characters of a declaration in a question; `harness guard tools` shows all of it. */
const maxShown = 8000;

/** Asks a human about tools that are new or declared otherwise. Nothing but an approval of exactly that declaration accepts it. */
export class ToolReviews {
  readonly #options: ToolReviewsOptions;
  /** Digests that are asked about, or that a human has refused. */
  readonly #asked = new Set<string>();
  #open = 0;

  constructor(options: ToolReviewsOptions) {
    this.#options = options;
  }

  /** Asks about a tool that waits, unless that was done. Never rejects. */
  async ask(tool: string): Promise<void> {
    const { judge, pins, name, holdMs, signal, onAccepted } = this.#options;
    const waiting = await pins.waiting(tool).catch(() => undefined);
    if (waiting === undefined || this.#asked.has(waiting.digest) || this.#open >= maxOpen) return;
    const { digest, declaration, accepted } = waiting;
    this.#asked.add(digest);
    this.#open++;
    const shown = displayText(tool, { maxLength: 200 });
    const question =
      accepted === undefined
        ? `the MCP server ${name} declares the new tool ${shown} (${digest}). Offer it?`
        : `the MCP server ${name} declares the tool ${shown} otherwise than it was accepted (${digest}). Offer it?`;
    const declarations = [
      ...(accepted === undefined ? [] : [`accepted: ${accepted}`]),
      `declared: ${declaration}`,
    ].map((one) => displayText(one, { maxLength: maxShown }));
    const answer = await judge.confirm([question, ...declarations].join("\n"), { holdMs, signal });
    this.#open--;
    if (answer === "unanswered") this.#asked.delete(digest);
    if (answer === "approved" && (await pins.accept(digest).catch(() => false))) onAccepted(tool);
  }
}
