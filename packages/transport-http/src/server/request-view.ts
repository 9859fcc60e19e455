import type { Clock } from "@harnesskit/wire";

export interface BodyLimits {
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly clock: Clock;
}

/** Why a body could not be read: over the limit, too slow, its sender disconnected, or something else has read it. */
export type BodyProblem = "too_large" | "too_slow" | "gone" | "read_before";

/** A body, or why it could not be read. */
export type ReadBody = { readonly bytes: Uint8Array } | { readonly problem: BodyProblem };

/** A request as the rules look at it, whatever platform it came in by. */
export interface RequestView {
  readonly method: string;
  /** Without query. Undefined for a request line that names no path. */
  readonly path: string | undefined;
  readonly query: string;
  /** The host that the request was made to, with its port: `Host`, or what an absolute URL says. */
  readonly authority: string | undefined;
  /** Whether it is known to have come over HTTPS. */
  readonly isSecure?: boolean;
  /** A header's value by its lower-case name. */
  header(name: string): string | undefined;
  readonly remoteAddress: string | undefined;
  /** Aborts when the client goes away before its answer is complete. */
  readonly signal: AbortSignal;
  /** Called once at most. Never rejects. */
  readBody(limits: BodyLimits): Promise<ReadBody>;
}

/** The pieces of an answer, as they come. Whoever does not read them to their end returns it. */
export interface AnswerStream extends AsyncIterableIterator<string> {
  /** How long a client may take nothing. */
  readonly stallMs: number;
}

/** An answer, as the rules give it. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** In place of a body. */
  readonly stream?: AnswerStream | undefined;
}
