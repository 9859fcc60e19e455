import { ShellErrorCode } from "@harnesskit/protocol/openharness";
import type { Clock, CreateId } from "@harnesskit/wire";
import type { ShellEngineLimits } from "../limits.ts";
import { ShellEngineError } from "../shell-engine-error.ts";
import { ResponseStream } from "./response-stream.ts";

/** To whom a stream belongs. */
export interface StreamOwner {
  /** One string for the credential. */
  readonly owner: string;
  /** As the shell named it. */
  readonly sessionId: string | undefined;
}

export interface StreamTableOptions {
  readonly limits: ShellEngineLimits;
  readonly clock: Clock;
  readonly createId: CreateId;
}

interface Entry extends StreamOwner {
  readonly stream: ResponseStream;
  /** Ends the wait after which a stream without a reader goes. */
  cancelTimer: () => void;
}

const unknownStream = () =>
  new ShellEngineError(
    ShellErrorCode.UnknownStream,
    "This stream is not known, or not kept any more: send its request again to get the response.",
  );

/**
 * The streams of an engine by their ids, which cannot be guessed. Bounded in number, for each owner too, and in length; a stream
 * without a reader is kept for a limited time. When there is no room, those that have ended go first, the oldest before others; then the
 * longest loses frames, whichever stream has grown.
 */
export class StreamTable {
  readonly #options: StreamTableOptions;
  /** In the order in which they were opened. */
  readonly #entries = new Map<string, Entry>();
  readonly #counts = new Map<string, number>();
  #length = 0;

  constructor(options: StreamTableOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Opens a stream. Undefined where the owner, or the engine, has too many that have not ended. */
  open(of: StreamOwner, requestId: string, cancel: () => void): ResponseStream | undefined {
    const { limits, createId } = this.#options;
    const countOf = () => this.#counts.get(of.owner) ?? 0;
    if (countOf() >= limits.maxStreamsPerOwner) this.#dropEnded(({ owner }) => owner === of.owner);
    if (this.#entries.size >= limits.maxStreams) this.#dropEnded(() => true);
    if (countOf() >= limits.maxStreamsPerOwner || this.#entries.size >= limits.maxStreams) return undefined;
    const id = createId("stream");
    const entry: Entry = {
      ...of,
      stream: new ResponseStream({
        id,
        requestId,
        bounds: limits,
        cancel,
        onLength: (change) => this.#measure(change),
        onReader: (isRead) => this.#watch(entry, isRead),
      }),
      cancelTimer: () => {},
    };
    this.#entries.set(id, entry);
    this.#counts.set(of.owner, countOf() + 1);
    return entry.stream;
  }

  /** A stream of an owner and a session. Throws `unknown_stream`, for those of others too. */
  find(id: string, { owner, sessionId }: StreamOwner): ResponseStream {
    const entry = this.#entries.get(id);
    if (entry && entry.owner === owner && entry.sessionId === sessionId) return entry.stream;
    throw unknownStream();
  }

  #measure(change: number): void {
    const { maxStreamsLength } = this.#options.limits;
    this.#length += change;
    if (change <= 0) return;
    while (this.#length > maxStreamsLength && this.#dropEnded(() => true));
    while (this.#length > maxStreamsLength) {
      const longest = this.#longest();
      if (!longest) return;
      longest.drop();
    }
  }

  /** Of those that have a frame to lose. */
  #longest(): ResponseStream | undefined {
    let longest: ResponseStream | undefined;
    for (const { stream } of this.#entries.values()) {
      if (stream.canDrop && stream.length > (longest?.length ?? 0)) longest = stream;
    }
    return longest;
  }

  #watch(entry: Entry, isRead: boolean): void {
    entry.cancelTimer();
    const { clock, limits } = this.#options;
    entry.cancelTimer = isRead ? () => {} : clock.after(limits.streamIdleMs, () => this.#drop(entry));
  }

  /** Drops the oldest that has ended and that no reader reads. Returns whether there was one. */
  #dropEnded(isMeant: (entry: Entry) => boolean): boolean {
    for (const entry of this.#entries.values()) {
      const { stream } = entry;
      if (!stream.hasEnded || stream.isRead || !isMeant(entry)) continue;
      this.#drop(entry);
      return true;
    }
    return false;
  }

  #drop(entry: Entry): void {
    const { stream, owner } = entry;
    if (!this.#entries.delete(stream.id)) return;
    entry.cancelTimer();
    const left = (this.#counts.get(owner) ?? 1) - 1;
    if (left > 0) this.#counts.set(owner, left);
    else this.#counts.delete(owner);
    stream.forget();
  }
}
