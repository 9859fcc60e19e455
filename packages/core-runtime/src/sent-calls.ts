/** What a result is that no call waits for. */
export type StrayKind = "late" | "duplicate" | "foreign" | "unknown";

interface SentCall {
  readonly sessionId: string;
  isAnswered: boolean;
}

const maxRecent = 1024;

/**
 * The last 1024 to 2048 calls that were sent, of all sessions: classifies a result that no call waits for. Two
 * generations, because dropping the oldest entry of a map one by one costs more than a call may.
 */
export class SentCalls {
  #recent = new Map<string, SentCall>();
  #older: ReadonlyMap<string, SentCall> = new Map();

  add(callId: string, sessionId: string): void {
    if (this.#recent.size >= maxRecent) {
      this.#older = this.#recent;
      this.#recent = new Map();
    }
    this.#recent.set(callId, { sessionId, isAnswered: false });
  }

  /** A result came. Returns what it is if no call waits for it. */
  answer(callId: string, sessionId: string): StrayKind {
    const call = this.#recent.get(callId) ?? this.#older.get(callId);
    if (!call) return "unknown";
    if (call.sessionId !== sessionId) return "foreign";
    const kind = call.isAnswered ? "duplicate" : "late";
    call.isAnswered = true;
    return kind;
  }
}
