import type { JsonValue } from "@harnesskit/protocol/envelope";
import type { ActiveTurn } from "./active-turn.ts";
import { KeptText } from "./kept-text.ts";
import type { ServerSettings } from "./server-settings.ts";

type Stream = "stdout" | "stderr";

interface Log {
  readonly itemId: string;
  readonly kept: KeptText;
}

/** What a running tool streams and returns: one `tool_log` item a stream, begun with its first output, and the output of the call. */
export class ToolOutput {
  readonly #turn: ActiveTurn;
  readonly #toolItemId: string;
  readonly #settings: ServerSettings;
  readonly #logs = new Map<Stream, Log>();

  constructor(turn: ActiveTurn, toolItemId: string, settings: ServerSettings) {
    this.#turn = turn;
    this.#toolItemId = toolItemId;
    this.#settings = settings;
  }

  write(stream: Stream, text: string): void {
    if (text === "") return;
    const { itemId, kept } = this.#logs.get(stream) ?? this.#begin(stream);
    const delta = kept.add(text);
    if (delta !== "") this.#turn.delta("tool_log", itemId, delta);
  }

  /** Completes the logs that were begun. */
  async completeLogs(): Promise<void> {
    for (const [stream, { itemId, kept }] of this.#logs) {
      const cut = await kept.end();
      const data = { toolItemId: this.#toolItemId, stream, text: kept.text, ...cut };
      await this.#turn.complete("tool_log", itemId, data);
    }
  }

  /** The output as its item keeps it: whole, or its beginning. */
  async keep(output: JsonValue): Promise<JsonValue> {
    const { maxOutputLength } = this.#settings.limits;
    const text = JSON.stringify(output);
    if (text.length <= maxOutputLength) return output;
    const kept = this.#keptText("output.json", "application/json", maxOutputLength);
    kept.add(text);
    await kept.end();
    return { truncated: true, length: text.length, head: kept.text };
  }

  #begin(stream: Stream): Log {
    const kept = this.#keptText(`${stream}.txt`, "text/plain", this.#settings.limits.maxLogLength);
    const log: Log = { itemId: this.#turn.newId("item"), kept };
    this.#logs.set(stream, log);
    const data = { toolItemId: this.#toolItemId, stream, text: "" };
    // When this fails the turn has ended, which the call itself learns from its completion.
    this.#turn.start("tool_log", log.itemId, data).catch(() => {});
    return log;
  }

  #keptText(suffix: string, mimeType: string, maxLength: number): KeptText {
    const toolItemId = this.#toolItemId;
    return new KeptText({
      turn: this.#turn,
      settings: this.#settings,
      maxLength,
      name: `${toolItemId}-${suffix}`,
      artifact: { kind: "tool_output", mimeType, toolItemId },
    });
  }
}
