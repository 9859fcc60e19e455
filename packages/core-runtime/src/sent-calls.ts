import { uuidCount } from "@harnesskit/wire";

/** What a result is that no call waits for. */
export type StrayKind = "late" | "duplicate" | "foreign" | "unknown";

/** Ids of calls and messages; a call has at least one of each. */
const remembered = 4096;

/**
 * The calls that were sent lately, of all sessions, which are those with one of the last ids: classifies a result that no call waits for.
 * A ring by the count of a call's id, because objects that live as long as this remembers calls cost more than a call may.
 */
export class SentCalls {
  readonly #counts = new Float64Array(remembered);
  readonly #sessions = new Array<string>(remembered).fill("");
  readonly #answered = new Uint8Array(remembered);

  add(callId: string, sessionId: string): void {
    const count = uuidCount(callId);
    const at = count % remembered;
    this.#counts[at] = count;
    this.#sessions[at] = sessionId;
    this.#answered[at] = 0;
  }

  /** A result came. Returns what it is if no call waits for it. */
  answer(callId: string, sessionId: string): StrayKind {
    const count = uuidCount(callId);
    const at = count % remembered;
    if (count === 0 || this.#counts[at] !== count) return "unknown";
    if (this.#sessions[at] !== sessionId) return "foreign";
    const kind = this.#answered[at] === 1 ? "duplicate" : "late";
    this.#answered[at] = 1;
    return kind;
  }
}
