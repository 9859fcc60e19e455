import type { ItemData } from "@harnesskit/protocol/threads";
import { endOfCharacter } from "@harnesskit/wire";
import type { ArtifactWriter } from "./thread-store.ts";
import type { Turn } from "./turn.ts";

export interface KeptTextOptions {
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
  #file: ArtifactFile | undefined;
  #text = "";

  constructor(turn: Turn, options: KeptTextOptions) {
    this.#turn = turn;
    this.#options = options;
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
    const { maxLength } = this.#options;
    const room = this.#file ? 0 : maxLength - this.#text.length;
    const kept = text.length <= room ? text : text.slice(0, endOfCharacter(text, room));
    if (kept.length < text.length) this.#file ??= this.#openFile();
    this.#file?.write(text);
    this.#text += kept;
    return kept;
  }

  /** Ends the file and records it. A file that failed is reported to the server, and the turn goes on without it. */
  async end(): Promise<Pick<ItemData<"tool_log">, "truncated" | "artifactItemId">> {
    if (!this.#file) return {};
    const written = await this.#file.close().catch(this.#turn.settings.onError);
    if (!written) return { truncated: true };
    const artifact = { ...this.#options.artifact, ...written };
    return { truncated: true, artifactItemId: await this.#turn.log.artifact(artifact) };
  }

  #openFile(): ArtifactFile {
    const { settings, threadId } = this.#turn;
    const opened = settings.store.openArtifact(threadId, this.#options.name);
    const file = new ArtifactFile(opened, settings.limits.maxArtifactLength);
    file.write(this.#text);
    return file;
  }
}

/** A file beside the log, written in order and bounded. What fails is reported at its end. */
class ArtifactFile {
  #writer: Promise<ArtifactWriter>;
  #room: number;

  constructor(writer: Promise<ArtifactWriter>, maxLength: number) {
    this.#writer = writer;
    this.#room = maxLength;
    writer.catch(() => {});
  }

  write(text: string): void {
    const kept = text.slice(0, this.#room);
    if (kept === "") return;
    this.#room -= kept.length;
    this.#writer = this.#writer.then(async (writer) => {
      await writer.write(kept);
      return writer;
    });
    this.#writer.catch(() => {});
  }

  async close(): ReturnType<ArtifactWriter["close"]> {
    return (await this.#writer).close();
  }
}
