/** What a hook's program sends to the guard: one line of JSON. */
export interface HookFrame {
  readonly version: 1;
  /** Names the request: only a reply with it is its answer. */
  readonly id: string;
  /** The id of the host, such as "codex". */
  readonly host: string;
  /** What the host wrote to the hook's standard input. */
  readonly input: string;
  /** The directory in which the host started the hook: the root of the agent's work. */
  readonly cwd: string;
  /** How long the host waits for the hook, in milliseconds, less what was used up. */
  readonly timeoutMs: number;
  /** The host's name of the event, for hosts whose input does not have it. */
  readonly event?: string | undefined;
  /** What an edit would change, as a unified diff, for the human who is asked about it. */
  readonly preview?: string | undefined;
  /** W3C Trace Context of the host, where it passes one in `TRACEPARENT` and `TRACESTATE`. */
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
}

/** What a hook's program writes and ends with. */
export interface HookReply {
  readonly exitCode: 0 | 2;
  readonly stdout: string;
  readonly stderr: string;
}

/** What the guard answers: one line of JSON. */
export interface HookReplyFrame extends HookReply {
  /** That of the request; absent where the request could not be read. */
  readonly id?: string | undefined;
}

/** Bytes of a hook's input; a larger one is refused by the hook's program. */
export const maxHookInputBytes = 8 * 1024 * 1024;

/** Characters of a preview; a longer one is not sent. */
export const maxHookPreviewLength = 128 * 1024;

/** Bytes of one line: JSON can take six bytes for one of the input, and for one character of the preview. */
export const maxHookFrameBytes = 6 * (maxHookInputBytes + maxHookPreviewLength) + 64 * 1024;
