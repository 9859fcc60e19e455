import type { ArtifactWriter } from "./thread-store.ts";
import type { ToolOutputOptions } from "./tool-log.ts";

/** A large output that is kept whole in a file beside the log, and recorded as an `artifact` item. Bounded all the same. */
export class WholeOutput {
  readonly #options: ToolOutputOptions;
  readonly #mimeType: string;
  readonly #writer: Promise<ArtifactWriter>;
  #writing: Promise<void>;
  #length = 0;

  constructor(options: ToolOutputOptions, name: string, mimeType: string, begin = "") {
    this.#options = options;
    this.#mimeType = mimeType;
    this.#writer = options.settings.store.openArtifact(options.threadId, name);
    this.#writing = this.#writer.then(() => {});
    // A file that cannot be written is reported at its completion.
    this.#writing.catch(() => {});
    this.write(begin);
  }

  write(text: string): void {
    const room = this.#options.settings.maxArtifactLength - this.#length;
    const kept = text.slice(0, Math.max(0, room));
    if (kept === "") return;
    this.#length += kept.length;
    this.#writing = this.#writing.then(async () => (await this.#writer).write(kept));
    this.#writing.catch(() => {});
  }

  /** Ends the file and records it. A file that failed is reported to the server, and the call goes on without it. */
  async complete(): Promise<void> {
    const { turn, toolItemId, settings } = this.#options;
    let file: Awaited<ReturnType<ArtifactWriter["close"]>>;
    try {
      await this.#writing;
      file = await (await this.#writer).close();
    } catch (error) {
      settings.onError(error);
      return;
    }
    const data = { kind: "tool_output", ...file, mimeType: this.#mimeType, toolItemId };
    const itemId = turn.newId("item");
    await turn.start("artifact", itemId, data);
    await turn.complete("artifact", itemId, data);
  }
}
