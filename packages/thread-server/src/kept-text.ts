import type { ItemData } from "@harnesskit/protocol/threads";
import { endOfCharacter } from "@harnesskit/wire";
import type { ArtifactWriter } from "./thread-store.ts";
import type { Turn } from "./turn.ts";

interface KeptTextOptions {
  /** Characters that the item keeps. */
  readonly maxLength: number;
  /** The name of the file. */
  readonly name: string;
  /** What the file's `artifact` item says of it. */
  readonly artifact: Pick<ItemData<"artifact">, "kind" | "mimeType" | "toolItemId">;
}

/** A text that grows. An item keeps its beginning; what does not fit is kept in a file of all of it, which an `artifact` item names. */
export class KeptText {
  readonly #turn: Turn;
  readonly #options: KeptTextOptions;
  /** The file with what was written so far. What fails is reported at its end. */
  #file: Promise<ArtifactWriter> | undefined;
  /** Characters that the file may still have. */
  #room: number;
  #text = "";

  constructor(turn: Turn, options: KeptTextOptions) {
    this.#turn = turn;
    this.#options = options;
    this.#room = turn.settings.limits.maxArtifactLength;
  }

  /** What the item keeps. */
  get text(): string {
    return this.#text;
  }

  /** True once something did not fit. */
  get isCut(): boolean {
    return this.#file !== undefined;
  }

  /** Adds to the text. Returns what the item keeps of that. */
  add(text: string): string {
    const { maxLength, name } = this.#options;
    const room = this.isCut ? 0 : maxLength - this.#text.length;
    const kept = text.length <= room ? text : text.slice(0, endOfCharacter(text, room));
    if (!this.isCut && kept.length < text.length) {
      const { settings, threadId } = this.#turn;
      this.#write(settings.store.openArtifact(threadId, name), this.#text);
    }
    if (this.#file !== undefined) this.#write(this.#file, text);
    this.#text += kept;
    return kept;
  }

  /** Ends the file and records it. A file that failed is reported to the server, and the turn goes on without it. */
  async end(): Promise<Pick<ItemData<"tool_log">, "truncated" | "artifactItemId">> {
    if (this.#file === undefined) return {};
    const written = await this.#file.then((file) => file.close()).catch(this.#turn.onError);
    if (!written) return { truncated: true };
    const artifact = { ...this.#options.artifact, ...written };
    return { truncated: true, artifactItemId: await this.#turn.log.artifact(artifact) };
  }

  #write(file: Promise<ArtifactWriter>, text: string): void {
    const part = text.slice(0, this.#room);
    this.#room -= part.length;
    this.#file = file.then(async (writer) => {
      if (part !== "") await writer.write(part);
      return writer;
    });
    this.#file.catch(() => {});
  }
}
