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
  /** A tool that no question is asked about, in a line. */
  readonly onNote: (line: string) => void;
}

/** Questions to a human at one time. A server that changes more tools has the others accepted by command. */
const maxOpen = 16;
/** Characters of a declaration in a question. A human is not asked about a longer one: `harness guard tools` shows all of it. */
const maxShown = 8000;

/** Asks a human about tools that are new or declared otherwise. Nothing but an approval of exactly that declaration accepts it. */
export class ToolReviews {
  readonly #options: ToolReviewsOptions;
  /** Digests that are asked about, that a human has refused, or that are left to `harness guard tools`. */
  readonly #asked = new Set<string>();
  #open = 0;

  constructor(options: ToolReviewsOptions) {
    this.#options = options;
  }

  /** Asks about a tool that waits, unless that was done. Never rejects. */
  async ask(tool: string): Promise<void> {
    const { judge, pins, name, holdMs, signal, onAccepted, onNote } = this.#options;
    const waiting = await pins.waiting(tool).catch(() => undefined);
    if (waiting === undefined || this.#asked.has(waiting.digest) || this.#open >= maxOpen) return;
    const { digest, declaration, accepted } = waiting;
    this.#asked.add(digest);
    const shown = displayText(tool, { maxLength: 200 });
    const declarations = [
      ...(accepted === undefined ? [] : [`accepted: ${accepted}`]),
      `declared: ${declaration}`,
    ];
    if (declarations.some(({ length }) => length > maxShown)) {
      onNote(
        `the declaration of the tool ${shown} is too long for a question in the inbox: review it with harness guard tools`,
      );
      return;
    }
    this.#open++;
    const question =
      accepted === undefined
        ? `the MCP server ${name} declares the new tool ${shown} (${digest}). Offer it?`
        : `the MCP server ${name} declares the tool ${shown} otherwise than it was accepted (${digest}). Offer it?`;
    const lines = declarations.map((one) => displayText(one, { maxLength: maxShown }));
    const answer = await judge.confirm([question, ...lines].join("\n"), { holdMs, signal });
    this.#open--;
    if (answer === "unanswered") this.#asked.delete(digest);
    if (answer === "approved" && (await pins.accept(digest).catch(() => false))) onAccepted(tool);
  }
}
