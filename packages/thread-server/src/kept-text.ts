import type { ItemData } from "@harnesskit/protocol/threads";
import { endOfCharacter } from "@harnesskit/wire";
import type { ActiveTurn } from "./active-turn.ts";
import type { ServerSettings } from "./server-settings.ts";
import type { ArtifactWriter } from "./thread-store.ts";

export interface KeptTextOptions {
  readonly turn: ActiveTurn;
  readonly settings: ServerSettings;
  /** Characters that the item keeps. */
  readonly maxLength: number;
  /** The name of the file. */
  readonly name: string;
  /** What the file's `artifact` item says of it. */
  readonly artifact: Pick<ItemData<"artifact">, "kind" | "mimeType" | "toolItemId">;
}

/** A text that grows. An item keeps its beginning; what does not fit is kept in a file of all of it, which an `artifact` item names. */
export class KeptText {
  readonly #options: KeptTextOptions;
  #file: ArtifactFile | undefined;
  #text = "";

  constructor(options: KeptTextOptions) {
    this.#options = options;
  }

  /** What the item keeps. */
  get text(): string {
    return this.#text;
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
    const { turn, settings, artifact } = this.#options;
    const written = await this.#file.close().catch(settings.onError);
    if (!written) return { truncated: true };
    return { truncated: true, artifactItemId: await turn.artifact({ ...artifact, ...written }) };
  }

  #openFile(): ArtifactFile {
    const { turn, settings, name } = this.#options;
    const opened = settings.store.openArtifact(turn.turn.threadId, name);
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
