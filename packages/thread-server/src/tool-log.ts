import type { ActiveTurn } from "./active-turn.ts";
import type { ServerSettings } from "./server-settings.ts";
import { WholeOutput } from "./whole-output.ts";

type Stream = "stdout" | "stderr";

interface Log {
  readonly itemId: string;
  readonly stream: Stream;
  text: string;
  /** The whole text, once it no longer fits in the item. */
  whole?: WholeOutput;
}

export interface ToolOutputOptions {
  readonly turn: ActiveTurn;
  readonly toolItemId: string;
  readonly threadId: string;
  readonly settings: ServerSettings;
}

/**
 * What a running tool streams: one `tool_log` item a stream, begun with its first output. The item is bounded; what does
 * not fit is kept whole in a file, which an `artifact` item names.
 */
export class ToolLog {
  readonly #options: ToolOutputOptions;
  readonly #logs = new Map<Stream, Log>();

  constructor(options: ToolOutputOptions) {
    this.#options = options;
  }

  readonly write = (stream: Stream, text: string): void => {
    if (text === "") return;
    const log = this.#logs.get(stream) ?? this.#begin(stream);
    const { maxLogLength } = this.#options.settings;
    const kept = text.slice(0, Math.max(0, maxLogLength - log.text.length));
    if (kept.length < text.length) {
      log.whole ??= new WholeOutput(
        this.#options,
        `${this.#options.toolItemId}-${stream}.txt`,
        "text/plain",
        log.text,
      );
    }
    log.whole?.write(text);
    if (kept === "") return;
    log.text += kept;
    this.#options.turn.delta("tool_log", log.itemId, kept);
  };

  /** Completes what was begun. */
  async complete(): Promise<void> {
    const { turn, toolItemId } = this.#options;
    for (const { itemId, stream, text, whole } of this.#logs.values()) {
      await whole?.complete();
      const data = { toolItemId, stream, text, ...(whole ? { truncated: true as const } : {}) };
      await turn.complete("tool_log", itemId, data);
    }
  }

  #begin(stream: Stream): Log {
    const { turn, toolItemId } = this.#options;
    const log: Log = { itemId: turn.newId("item"), stream, text: "" };
    this.#logs.set(stream, log);
    // When this fails the turn has ended, which the call itself learns from its completion.
    turn.start("tool_log", log.itemId, { toolItemId, stream, text: "" }).catch(() => {});
    return log;
  }
}
