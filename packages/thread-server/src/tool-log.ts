import type { ActiveTurn } from "./active-turn.ts";

type Stream = "stdout" | "stderr";

interface Log {
  readonly itemId: string;
  text: string;
  truncated: boolean;
}

/** What a running tool streams: one `tool_log` item a stream, begun with its first output, bounded. */
export class ToolLog {
  readonly #logs = new Map<Stream, Log>();

  constructor(
    readonly turn: ActiveTurn,
    readonly toolItemId: string,
    readonly maxLogLength: number,
  ) {}

  readonly write = (stream: Stream, text: string): void => {
    if (text === "") return;
    const log = this.#logs.get(stream) ?? this.#begin(stream);
    const room = this.maxLogLength - log.text.length;
    if (text.length > room) log.truncated = true;
    const kept = text.slice(0, Math.max(0, room));
    if (kept === "") return;
    log.text += kept;
    this.turn.delta("tool_log", log.itemId, kept);
  };

  /** Completes what was begun. */
  async complete(): Promise<void> {
    const { toolItemId } = this;
    for (const [stream, { itemId, text, truncated }] of this.#logs) {
      const data = { toolItemId, stream, text, ...(truncated ? { truncated: true as const } : {}) };
      await this.turn.complete("tool_log", itemId, data);
    }
  }

  #begin(stream: Stream): Log {
    const log = { itemId: this.turn.newId("item"), text: "", truncated: false };
    this.#logs.set(stream, log);
    // When this fails the turn has ended, which the call itself learns from its completion.
    this.turn
      .start("tool_log", log.itemId, { toolItemId: this.toolItemId, stream, text: "" })
      .catch(() => {});
    return log;
  }
}
