import type { Post } from "../scenario/step-schema.ts";
import type { Inbox } from "./inbox.ts";

/** The answer to an HTTP request. */
export interface HttpReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** `text` as JSON, where it is JSON. */
  readonly body?: unknown;
}

/** What a client's request is answered with, where it is not a message. */
export interface RawReply {
  readonly body?: string | undefined;
  readonly status?: number | undefined;
  readonly drop?: boolean | undefined;
}

/** One connection between the suite and the target. A verb that the transport does not have is absent. */
export interface Link {
  readonly inbox: Inbox;
  /** Sends one message; settles when it was handed over. */
  send(message: unknown): Promise<void>;
  /** Answers a message of the target. */
  reply(request: unknown, answer: { readonly message: unknown } | RawReply): Promise<void>;
  /** Sends bytes. Each chunk leaves on its own; over HTTP and WebSocket they are one body or frame. */
  write(chunks: readonly Uint8Array[]): Promise<void>;
  /** The bytes of one message, or of any other content, framed as this connection frames. */
  frame(content: string | Uint8Array): Uint8Array;
  close(): Promise<void>;
  end?(): void;
  pause?(): void;
  resume?(): void;
  ping?(withinMs: number): Promise<void>;
  post?(post: Post, withinMs: number): Promise<HttpReply>;
}

/** A message as JSON text. What has no JSON form does not occur in scenarios. */
export const toText = (message: unknown): string => JSON.stringify(message);
