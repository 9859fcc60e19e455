import type { IncomingHttpHeaders } from "node:http";
import { FrameTooLargeError } from "@harnesskit/wire";
import type { Dispatcher } from "undici";
import type { PostReply, PostRequest } from "../poster.ts";
import { joinChunks } from "../read-body.ts";

interface Reader {
  readonly maxBytes: number;
  resolve(body: Uint8Array): void;
  reject(reason: unknown): void;
}

const givenUp = () => new DOMException("the post was given up", "AbortError");

/** One post on its way through the pool: takes its events, and is the reply's head. */
export class PooledPost implements Dispatcher.DispatchHandler, PostReply {
  readonly request: PostRequest;
  readonly head: Promise<PostReply>;
  status = 0;
  readonly #onEnd: () => void;
  #resolveHead!: (reply: PostReply) => void;
  #rejectHead!: (reason: unknown) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #headers: IncomingHttpHeaders = {};
  /** What came before somebody reads: at most what one read of the socket brought, because the head is read at once. */
  #chunks: Uint8Array[] = [];
  #length = 0;
  #reader: Reader | undefined;
  #failure: unknown;
  #isComplete = false;
  #isGivenUp = false;

  /** `onEnd` is called once, when nothing of it is on its way any more. */
  constructor(request: PostRequest, onEnd: () => void) {
    this.request = request;
    this.#onEnd = onEnd;
    this.head = new Promise((resolve, reject) => {
      this.#resolveHead = resolve;
      this.#rejectHead = reject;
    });
  }

  header(name: string): string | undefined {
    const value = this.#headers[name];
    return typeof value === "string" ? value : undefined;
  }

  read(maxBytes: number): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      this.#reader = { maxBytes, resolve, reject };
      this.#deliver();
    });
  }

  discard(): void {
    this.#chunks = [];
    // What has no body leaves its connection for the next message; any other body is not worth reading.
    if (this.status !== 204) this.giveUp();
  }

  /** Ends one that was never under way. */
  fail(reason: unknown): void {
    this.#rejectHead(reason);
  }

  /** Ends it, wherever it is. */
  giveUp(): void {
    this.#isGivenUp = true;
    this.#rejectHead(givenUp());
    this.#reader?.reject(givenUp());
    this.#controller?.abort(givenUp());
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isGivenUp) controller.abort(givenUp());
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (status < 200) return;
    this.status = status;
    this.#headers = headers;
    this.#resolveHead(this);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#length += chunk.length;
    this.#chunks.push(chunk);
    if (this.#reader) this.#deliver();
  }

  onResponseEnd(): void {
    this.#isComplete = true;
    this.#deliver();
    this.#onEnd();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#failure = error;
    this.#rejectHead(error);
    this.#deliver();
    this.#onEnd();
  }

  #deliver(): void {
    const reader = this.#reader;
    if (!reader) return;
    if (this.#length > reader.maxBytes) {
      this.#chunks = [];
      reader.reject(new FrameTooLargeError(reader.maxBytes));
      this.#controller?.abort(givenUp());
    } else if (this.#isComplete) reader.resolve(joinChunks(this.#chunks, this.#length));
    else if (this.#failure !== undefined) reader.reject(this.#failure);
  }
}
