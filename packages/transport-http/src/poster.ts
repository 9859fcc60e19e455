/** What is posted. */
export interface PostRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** To be called at once with what gives the request, and the reading of its reply, up. */
  readonly onStart: (giveUp: () => void) => void;
}

/** The head of what came back. Either `read` or `discard` is called, once. */
export interface PostReply {
  /** 0 where a browser hides it: a redirect. */
  readonly status: number;
  header(name: string): string | undefined;
  /** The whole body. Rejects with `frame_too_large` as soon as more arrived, and then reads no further. */
  read(maxBytes: number): Promise<Uint8Array>;
  /** Reads no body. */
  discard(): void;
}

/** A way to post to one URL. */
export interface Poster {
  /** Rejects with whatever the platform throws when no head came back. */
  post(request: PostRequest): Promise<PostReply>;
  /** Gives idle connections up. */
  close(): void;
}
