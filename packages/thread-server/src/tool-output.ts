import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import type { ItemData } from "@harnesskit/protocol/threads";
import { bytesOfBase64, mediaOf, replaceMedia, type ToolMedia } from "@harnesskit/wire/model";
import { lastCharacters } from "@harnesskit/wire/replay";
import { KeptText } from "./kept-text.ts";
import { outputArtifact } from "./output-reader.ts";
import type { Turn } from "./turn.ts";
import type { ToolOutcome } from "./turn-runner.ts";

/** The end of the name of a file of this type. A tool says the type: no name is that of a program or a page. */
const extensionOf = (mediaType: string): string =>
  /^(?:application\/(?=pdf$)|(?:image|audio|video)\/)(png|jpeg|gif|webp|svg|wav|mpeg|mp4|ogg|pdf)(?:\+xml)?$/.exec(
    mediaType,
  )?.[1] ?? "bin";

type Channel = NonNullable<ItemData<"tool_log">["channel"]>;
type Stream = ItemData<"tool_log">["stream"] | Channel;

interface Log {
  readonly itemId: string;
  readonly kept: KeptText;
}

/** What a running tool streams and returns: one `tool_log` item for each stream and channel, begun with its first output, and the output of the call. */
export class ToolOutput {
  readonly #turn: Turn;
  readonly #toolItemId: string;
  readonly #logs = new Map<Stream, Log>();

  constructor(turn: Turn, toolItemId: string) {
    this.#turn = turn;
    this.#toolItemId = toolItemId;
  }

  write(stream: Stream, text: string): void {
    if (text === "") return;
    const { itemId, kept } = this.#logs.get(stream) ?? this.#begin(stream);
    const delta = kept.add(text);
    if (delta !== "") this.#turn.log.delta("tool_log", itemId, delta);
  }

  /** Completes the logs that were begun. */
  async completeLogs(): Promise<void> {
    for (const [stream, { itemId, kept }] of this.#logs) {
      const cut = await kept.end();
      const data = { ...this.#place(stream), text: kept.text, ...cut };
      await this.#turn.log.complete("tool_log", itemId, data);
    }
  }

  /** The output as its item keeps it: whole or its beginning and its end, and each image or file in it by its artifact. */
  async keep(whole: JsonValue): Promise<Pick<ToolOutcome, "output" | "modelOutput">> {
    const { maxOutputLength } = this.#turn.settings.limits;
    const media = mediaOf(whole);
    const named: JsonObject[] = [];
    for (const medium of media) named.push(await this.#keepMedium(medium, named.length + 1));
    const output = media.length === 0 ? whole : replaceMedia(whole, named);
    const text = JSON.stringify(output);
    if (text.length > maxOutputLength) {
      const tailLength = Math.floor(maxOutputLength / 4);
      const kept = this.#keptText(
        outputArtifact(this.#toolItemId),
        "application/json",
        maxOutputLength - tailLength,
      );
      kept.add(text);
      await kept.end();
      const tail = lastCharacters(text, tailLength);
      return { output: { truncated: true, length: text.length, head: kept.text, tail } };
    }
    if (media.length === 0) return { output };
    const shown = media.map(({ data }, index) => ({ ...named[index], data }));
    return { output, modelOutput: replaceMedia(whole, shown) };
  }

  /** What stands in the item for the bytes: how many, and the artifact that has them. */
  async #keepMedium({ mediaType, data }: ToolMedia, index: number): Promise<JsonObject> {
    const bytes = bytesOfBase64(data);
    const { store, limits } = this.#turn.settings;
    if (!bytes || bytes.length > limits.maxArtifactLength) return { size: bytes?.length ?? 0 };
    const artifact = `${this.#toolItemId}-${index}.${extensionOf(mediaType)}`;
    const write = async () => {
      const writer = await store.openArtifact(this.#turn.threadId, artifact);
      await writer.write(bytes);
      return writer.close();
    };
    const written = await write().catch(this.#turn.onError);
    if (!written) return { size: bytes.length };
    await this.#turn.log.artifact({
      kind: "tool_media",
      ...written,
      mimeType: mediaType,
      toolItemId: this.#toolItemId,
    });
    return { size: bytes.length, artifact };
  }

  #begin(stream: Stream): Log {
    const kept = this.#keptText(
      `${this.#toolItemId}-${stream}.txt`,
      "text/plain",
      this.#turn.settings.limits.maxLogLength,
    );
    const log: Log = { itemId: this.#turn.settings.createId("item"), kept };
    this.#logs.set(stream, log);
    const data = { ...this.#place(stream), text: "" };
    // When this fails the turn has ended, which the call itself learns from its completion.
    this.#turn.log.start("tool_log", log.itemId, data).catch(() => {});
    return log;
  }

  #place(stream: Stream): Omit<ItemData<"tool_log">, "text"> {
    const toolItemId = this.#toolItemId;
    if (stream === "stdout" || stream === "stderr") return { toolItemId, stream };
    return { toolItemId, stream: "stderr", channel: stream };
  }

  #keptText(name: string, mimeType: string, maxLength: number): KeptText {
    const toolItemId = this.#toolItemId;
    return new KeptText(this.#turn, {
      maxLength,
      name,
      artifact: { kind: "tool_output", mimeType, toolItemId },
    });
  }
}
