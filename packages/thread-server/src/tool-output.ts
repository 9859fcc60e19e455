import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import type { ItemData } from "@harnesskit/protocol/threads";
import { bytesOfBase64, mediaOf, replaceMedia, type ToolMedia } from "@harnesskit/wire/model";
import type { ActiveTurn } from "./active-turn.ts";
import type { ServerSettings } from "./server-settings.ts";
import type { ArtifactWriter } from "./thread-store.ts";
import type { ToolOutcome } from "./turn-runner.ts";

/** The names of files of the types that tools commonly return. */
const extensions: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/webp": "webp",
  "image/svg+xml": "svg",
  "audio/wav": "wav",
  "audio/mpeg": "mp3",
  "application/pdf": "pdf",
};

type Channel = NonNullable<ItemData<"tool_log">["channel"]>;
type Stream = ItemData<"tool_log">["stream"] | Channel;

interface Log {
  readonly itemId: string;
  text: string;
  /** All of it, once it no longer fits in the item. */
  file?: ArtifactFile;
}

/**
 * What a running tool streams and returns: one `tool_log` item for each stream and channel, begun with its first output, and the output of the
 * call. An item is bounded; what does not fit is kept in a file, which an `artifact` item names.
 */
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
    const log = this.#logs.get(stream) ?? this.#begin(stream);
    const kept = text.slice(0, Math.max(0, this.#settings.limits.maxLogLength - log.text.length));
    if (kept.length < text.length) log.file ??= this.#openFile(`${stream}.txt`, log.text);
    log.file?.write(text);
    if (kept === "") return;
    log.text += kept;
    this.#turn.delta("tool_log", log.itemId, kept);
  }

  /** Completes the logs that were begun. */
  async completeLogs(): Promise<void> {
    for (const [stream, { itemId, text, file }] of this.#logs) {
      if (file) await this.#record(file, "text/plain");
      const data = { ...this.#place(stream), text, ...(file && { truncated: true as const }) };
      await this.#turn.complete("tool_log", itemId, data);
    }
  }

  /** The output as its item keeps it: whole or its beginning, and each image or file in it by its artifact. */
  async keep(whole: JsonValue): Promise<Pick<ToolOutcome, "output" | "modelOutput">> {
    const { maxOutputLength } = this.#settings.limits;
    const media = mediaOf(whole);
    const named: JsonObject[] = [];
    for (const medium of media) named.push(await this.#keepMedium(medium, named.length + 1));
    const output = media.length === 0 ? whole : replaceMedia(whole, named);
    const text = JSON.stringify(output);
    if (text.length > maxOutputLength) {
      await this.#record(this.#openFile("output.json", text), "application/json");
      return { output: { truncated: true, length: text.length, head: text.slice(0, maxOutputLength) } };
    }
    if (media.length === 0) return { output };
    const shown = media.map(({ data }, index) => ({ ...named[index], data }));
    return { output, modelOutput: replaceMedia(whole, shown) };
  }

  /** What stands in the item for the bytes: how many, and the artifact that has them. */
  async #keepMedium({ mediaType, data }: ToolMedia, index: number): Promise<JsonObject> {
    const bytes = bytesOfBase64(data);
    const { store, limits, onError } = this.#settings;
    if (!bytes || bytes.length > limits.maxArtifactLength) return { size: bytes?.length ?? 0 };
    const artifact = `${this.#toolItemId}-${index}.${extensions[mediaType] ?? "bin"}`;
    const write = async () => {
      const writer = await store.openArtifact(this.#turn.turn.threadId, artifact);
      await writer.write(bytes);
      return writer.close();
    };
    const written = await write().catch(onError);
    if (!written) return { size: bytes.length };
    await this.#turn.artifact({
      kind: "tool_media",
      ...written,
      mimeType: mediaType,
      toolItemId: this.#toolItemId,
    });
    return { size: bytes.length, artifact };
  }

  #begin(stream: Stream): Log {
    const log: Log = { itemId: this.#turn.newId("item"), text: "" };
    this.#logs.set(stream, log);
    const data = { ...this.#place(stream), text: "" };
    // When this fails the turn has ended, which the call itself learns from its completion.
    this.#turn.start("tool_log", log.itemId, data).catch(() => {});
    return log;
  }

  #place(stream: Stream): Omit<ItemData<"tool_log">, "text"> {
    const toolItemId = this.#toolItemId;
    if (stream === "stdout" || stream === "stderr") return { toolItemId, stream };
    return { toolItemId, stream: "stderr", channel: stream };
  }

  #openFile(suffix: string, begin: string): ArtifactFile {
    const { store, limits } = this.#settings;
    const opened = store.openArtifact(this.#turn.turn.threadId, `${this.#toolItemId}-${suffix}`);
    const file = new ArtifactFile(opened, limits.maxArtifactLength);
    file.write(begin);
    return file;
  }

  /** Ends the file and records it. A file that failed is reported to the server, and the call goes on without it. */
  async #record(file: ArtifactFile, mimeType: string): Promise<void> {
    const written = await file.close().catch(this.#settings.onError);
    if (!written) return;
    await this.#turn.artifact({ kind: "tool_output", ...written, mimeType, toolItemId: this.#toolItemId });
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
