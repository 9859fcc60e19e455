import { displayText } from "@harnesskit/wire";
import type { ActionJudge } from "../proxy/action-judge.ts";
import type { ToolPins, WaitingTool } from "./tool-pins.ts";

export interface ToolReviewsOptions {
  readonly judge: ActionJudge;
  readonly pins: ToolPins;
  /** What policies call the server. */
  readonly name: string;
  /** How long a human is waited for, in milliseconds. */
  readonly holdMs: number;
  readonly signal: AbortSignal;
  /** Tools were accepted. */
  readonly onAccepted: () => void;
  /** A tool that no question is asked about, in a line. */
  readonly onNote: (line: string) => void;
}

/** Characters of a declaration in a question. A human is not asked about a longer one: `harness guard tools` shows all of it. */
const maxShown = 8000;
/** Characters of one question; what exceeds it is asked about when that is answered. */
const maxQuestion = 64_000;
/** All processes that stand before a server ask the same question. */
const session = "tool-review";

const shownLines = ({ tool, digest, declaration, accepted }: WaitingTool): string[] => [
  accepted === undefined
    ? `The new tool ${displayText(tool, { maxLength: 200 })} (${digest}):`
    : `The tool ${displayText(tool, { maxLength: 200 })}, otherwise than it was accepted (${digest}):`,
  ...(accepted === undefined ? [] : [`accepted: ${accepted}`]),
  `declared: ${declaration}`,
];

/**
 * Asks a human about the tools of a server that are new or declared otherwise, in one question. Nothing but an approval of exactly those
 * declarations accepts them.
 */
export class ToolReviews {
  readonly #options: ToolReviewsOptions;
  /** Digests that are left to `harness guard tools`. */
  readonly #left = new Set<string>();
  #isAsking = false;

  constructor(options: ToolReviewsOptions) {
    this.#options = options;
  }

  /** Asks about the tools that wait and were not refused, unless a question is open. Never rejects. */
  async ask(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    while (await this.#askOnce().catch(() => false));
    this.#isAsking = false;
  }

  /** Whether a human has answered. */
  async #askOnce(): Promise<boolean> {
    const { judge, pins, name, holdMs, signal, onAccepted } = this.#options;
    const asked = this.#askable(await pins.waiting());
    if (asked.length === 0) return false;
    const what = asked.length === 1 ? "a tool that is" : `${asked.length} tools that are`;
    const question = `The MCP server ${name} declares ${what} not accepted yet. Offer ${asked.length === 1 ? "it" : "them all"}?`;
    const lines = asked.flatMap(shownLines).map((line) => displayText(line, { maxLength: maxShown }));
    const answer = await judge.confirm([question, ...lines].join("\n"), { holdMs, signal, session });
    const digests = asked.map(({ digest }) => digest);
    if (answer === "unanswered") return false;
    if (answer === "rejected") await pins.refuse(digests);
    else if (await pins.accept(digests)) onAccepted();
    return true;
  }

  /** What fits one question, in the order of names: the same tools give the same question. */
  #askable(waiting: readonly WaitingTool[]): readonly WaitingTool[] {
    let room = maxQuestion;
    const sorted = waiting.toSorted((a, b) => (a.tool < b.tool ? -1 : 1));
    return sorted.filter((one) => {
      const lines = shownLines(one);
      if (one.isRefused || this.#isLeft(one, lines)) return false;
      room -= lines.join("").length;
      return room >= 0;
    });
  }

  #isLeft({ tool, digest }: WaitingTool, lines: readonly string[]): boolean {
    if (!lines.some(({ length }) => length > maxShown)) return false;
    if (this.#left.has(digest)) return true;
    this.#left.add(digest);
    const shown = displayText(tool, { maxLength: 200 });
    this.#options.onNote(
      `the declaration of the tool ${shown} is too long for a question in the inbox: review it with harness guard tools`,
    );
    return true;
  }
}
