import {
  BufferFullError,
  ConnectionClosedError,
  checkNumber,
  createMessageCodec,
  FrameTooLargeError,
  HarnessError,
  RequestCancelledError,
} from "@harnesskit/wire";
import { PendingRequests } from "@harnesskit/wire/rpc";
import { type Clock, systemClock } from "@harnesskit/wire/time";
import { toClientUrl } from "./client-url.ts";
import { toConnectionError } from "./connection-error.ts";
import { checkedHeaders, type HttpCredentials } from "./credentials.ts";
import { HttpReplyError, HttpStatusError } from "./errors.ts";
import type { HttpCall, HttpExchange, HttpExchangeOptions } from "./exchange-options.ts";
import type { ExchangeLimits } from "./limits.ts";
import { isJsonType, toContentLength } from "./read-body.ts";
import { isEventType, readServerSentEvents } from "./read-events.ts";

type Headers = Readonly<Record<string, string>>;

/** The head of a reply. Either `read` or `discard` is called, once. */
export interface PostReply {
  /** 0 where a browser hides it: a redirect. */
  readonly status: number;
  header(name: string): string | undefined;
  /** The whole body. Rejects with `frame_too_large` as soon as more arrives, and reads no further. */
  read(maxBytes: number): Promise<Uint8Array>;
  /** The pieces of the body as they arrive, for an answer that has no end yet. */
  chunks(): AsyncIterable<Uint8Array>;
  discard(): void;
}

export interface PostRequest {
  readonly headers: Headers;
  readonly body: string;
  /**
   * Called at once with the function that ends the post and the reading of its reply. Not an AbortSignal, which in Node
   * 20 costs more than a third of a post.
   */
  readonly onStart: (stop: () => void) => void;
}

/** A way to post to one URL. */
export interface Poster {
  /** Rejects with the platform's error when there is no reply. */
  post(request: PostRequest): Promise<PostReply>;
  /** Closes idle connections. */
  close(): void;
}

/** A message that was posted. `stop` ends it and the reading of its reply. */
interface Post {
  stop: () => void;
}

const exchangeClosed = () => new ConnectionClosedError("the exchange is closed");

/** Times of less than a millisecond, and none, are times too. */
const timeoutRange = { min: Number.MIN_VALUE, max: Number.POSITIVE_INFINITY, allowFraction: true };

/** Bytes of the words of a refusal. */
const maxReasonBytes = 2_000;

type ExchangeClientOptions = Omit<HttpExchangeOptions, "limits">;

class ExchangeClient implements HttpExchange {
  readonly #endpoint: string;
  readonly #poster: Poster;
  readonly #headers: Headers;
  readonly #credentials: HttpCredentials | undefined;
  readonly #timeoutMs: number;
  readonly #limits: ExchangeLimits;
  readonly #clock: Clock;
  readonly #codec;
  readonly #closed = new AbortController();
  readonly #waiting: PendingRequests;
  /** The streams that have begun. */
  readonly #streams = new Set<Post>();
  #inFlight = 0;

  constructor(options: ExchangeClientOptions, limits: ExchangeLimits, makePoster: (url: URL) => Poster) {
    const { url, endpoint } = toClientUrl(options.url, ["http:", "https:"]);
    this.#endpoint = endpoint;
    this.#timeoutMs = options.timeoutMs ?? 10_000;
    this.#limits = limits;
    checkNumber("timeoutMs", this.#timeoutMs, timeoutRange);
    this.#credentials = options.credentials;
    this.#headers = {
      ...checkedHeaders(options.headers ?? {}, options.credentials),
      accept: "application/json",
      "content-type": "application/json",
    };
    this.#clock = options.clock ?? systemClock;
    this.#waiting = new PendingRequests({ clock: this.#clock });
    this.#codec = createMessageCodec({ maxFrameBytes: limits.maxMessageBytes, maxDepth: limits.maxDepth });
    this.#poster = makePoster(url);
  }

  handle(message: unknown, call: HttpCall = {}): Promise<unknown> {
    return this.#send(message, call, this.#headers);
  }

  handleStream(message: unknown, call: HttpCall = {}): Promise<unknown> {
    return this.#send(message, call, { ...this.#headers, accept: "text/event-stream, application/json" });
  }

  async #send(message: unknown, call: HttpCall, ownHeaders: Headers): Promise<unknown> {
    if (this.#closed.signal.aborted) throw exchangeClosed();
    checkNumber("timeoutMs", call.timeoutMs ?? this.#timeoutMs, timeoutRange);
    const { maxInFlight } = this.#limits;
    if (this.#inFlight >= maxInFlight) throw new BufferFullError("maxInFlight", maxInFlight);
    const headers = call.headers
      ? { ...ownHeaders, ...checkedHeaders(call.headers, this.#credentials) }
      : ownHeaders;
    const body = this.#codec.encode(message);
    this.#inFlight++;
    try {
      return await this.#post(headers, body, call);
    } finally {
      this.#inFlight--;
    }
  }

  close(): void {
    this.#closed.abort();
    this.#waiting.close(exchangeClosed());
    for (const { stop } of this.#streams) stop();
    this.#poster.close();
  }

  #post(headers: Headers, body: string, call: HttpCall): Promise<unknown> {
    const { timeoutMs = this.#timeoutMs } = call;
    const name = `POST ${this.#endpoint}`;
    const signal = call.onAbort ? undefined : call.signal;
    const post: Post = { stop() {} };
    const { id, answer } = this.#waiting.add(name, timeoutMs, signal, () => post.stop());
    const onStart = (stop: () => void) => {
      post.stop = stop;
    };
    void this.#poster
      .post({ headers, body, onStart })
      .then((reply) => {
        const isStream = headers.accept !== "application/json" && reply.status === 200 && isEvents(reply);
        if (!isStream) return this.#read(reply);
        this.#streams.add(post);
        return this.#events(reply, post, call.signal);
      })
      .then(
        (reply) => void this.#waiting.resolve(id, reply),
        (cause: unknown) => {
          const error = HarnessError.isInstance(cause) ? cause : toConnectionError(this.#endpoint, cause);
          this.#waiting.fail(id, error);
        },
      );
    call.onAbort?.(() => this.#waiting.fail(id, new RequestCancelledError(name)));
    return answer;
  }

  /** The messages of a reply that has begun. It is open until its end, or until its reader leaves it. */
  async *#events(reply: PostReply, post: Post, signal: AbortSignal | undefined) {
    const name = `the stream of ${this.#endpoint}`;
    const { maxMessageBytes, maxSilenceMs } = this.#limits;
    try {
      yield* readServerSentEvents(reply.chunks(), {
        codec: this.#codec,
        maxMessageBytes,
        maxSilenceMs,
        clock: this.#clock,
        signal,
        name,
        toError: (cause) => toConnectionError(this.#endpoint, cause),
      });
    } catch (error) {
      throw this.#closed.signal.aborted ? exchangeClosed() : error;
    } finally {
      post.stop();
      this.#streams.delete(post);
    }
  }

  async #read(reply: PostReply): Promise<unknown> {
    const { status } = reply;
    if (status !== 200) {
      const seconds = toContentLength(reply.header("retry-after"));
      const { document, reason } = await this.#readRefusal(reply);
      if (status === 204 || status === 202) return undefined;
      const retryAfterMs = seconds === undefined ? undefined : seconds * 1000;
      throw new HttpStatusError(this.#endpoint, status, retryAfterMs, document, reason);
    }
    if (!isJsonType(reply.header("content-type"))) {
      reply.discard();
      throw new HttpReplyError(
        "wrong_content_type",
        `${this.#endpoint} answered with something else than JSON`,
      );
    }
    if ((toContentLength(reply.header("content-length")) ?? 0) > this.#limits.maxMessageBytes) {
      reply.discard();
      throw new FrameTooLargeError(this.#limits.maxMessageBytes);
    }
    return this.#codec.decode(await reply.read(this.#limits.maxMessageBytes));
  }

  /**
   * The JSON message that came with an error status, or the words that came with 403; neither where there is none, or it is too
   * large. Never rejects.
   */
  async #readRefusal(reply: PostReply): Promise<{ document?: unknown; reason?: string }> {
    const length = toContentLength(reply.header("content-length")) ?? 0;
    const type = reply.header("content-type");
    const isText = reply.status === 403 && /^text\/plain\b/i.test(type ?? "");
    const maxBytes = isText ? maxReasonBytes : this.#limits.maxMessageBytes;
    if (reply.status < 400 || !(isText || isJsonType(type)) || length > maxBytes) {
      reply.discard();
      return {};
    }
    try {
      const bytes = await reply.read(maxBytes);
      return isText ? { reason: new TextDecoder().decode(bytes) } : { document: this.#codec.decode(bytes) };
    } catch {
      return {};
    }
  }
}

const isEvents = (reply: PostReply): boolean => isEventType(reply.header("content-type"));

/** Creates the client of a poster. Throws `invalid_argument`. */
export const createExchangeClient = (
  options: ExchangeClientOptions,
  limits: ExchangeLimits,
  makePoster: (url: URL) => Poster,
): HttpExchange => new ExchangeClient(options, limits, makePoster);
