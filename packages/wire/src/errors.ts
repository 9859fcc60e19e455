const marker = Symbol.for("harnesskit.error");

/**
 * The base of every error this project throws. `code` is a stable string for programs, `message` is for people,
 * `cause` is kept. Recognised by a marker, so that two copies of the package in one process still agree.
 */
export class HarnessError<Code extends string = string> extends Error {
  override readonly name: string = "HarnessError";
  readonly [marker] = true;
  readonly code: Code;

  constructor(code: Code, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }

  static isInstance(value: unknown): value is HarnessError {
    return typeof value === "object" && value !== null && (value as Record<symbol, unknown>)[marker] === true;
  }
}

/** The channel is closed: nothing more can be sent, and what was pending will not be answered. */
export class ConnectionClosedError extends HarnessError {
  override readonly name = "ConnectionClosedError";
  constructor(message = "the connection is closed", options?: { cause?: unknown }) {
    super("connection_closed", message, options);
  }
}

/** A request was not answered before its deadline. */
export class RequestTimeoutError extends HarnessError {
  override readonly name = "RequestTimeoutError";
  constructor(
    readonly method: string,
    readonly timeoutMs: number,
  ) {
    super("request_timeout", `${method} was not answered within ${timeoutMs} ms`);
  }
}

/** A request was given up by its own caller. */
export class RequestCancelledError extends HarnessError {
  override readonly name = "RequestCancelledError";
  constructor(
    readonly method: string,
    options?: { cause?: unknown },
  ) {
    super("request_cancelled", `${method} was cancelled by its caller`, options);
  }
}

/** A message is larger than the limit of its connection, in either direction. */
export class FrameTooLargeError extends HarnessError {
  override readonly name = "FrameTooLargeError";
  constructor(readonly maxFrameBytes: number) {
    super("frame_too_large", `a message exceeds the limit of ${maxFrameBytes} bytes`);
  }
}

/**
 * What arrived is no message: not JSON, not UTF-8, cut in the middle or nested too deeply; an answer to no request
 * (`late_answer`: to one that is over); or so much of this in a row that the connection is closed (`faults_in_a_row`).
 */
export class InvalidMessageError extends HarnessError {
  override readonly name = "InvalidMessageError";
  constructor(
    readonly reason:
      | "not_json"
      | "not_utf8"
      | "incomplete"
      | "too_deep"
      | "empty_frame"
      | "not_json_rpc"
      | "late_answer"
      | "faults_in_a_row",
    message: string,
    options?: { cause?: unknown },
  ) {
    super("invalid_message", message, options);
  }
}

/** A bounded queue is full, because the other side reads or answers too slowly. Nothing of this call was sent. */
export class BufferFullError extends HarnessError {
  override readonly name = "BufferFullError";
  constructor(
    readonly limitName: string,
    readonly limit: number,
  ) {
    super("buffer_full", `${limitName} of ${limit} is reached`);
  }
}

/** The operating system or the network failed below the channel. */
export class TransportError extends HarnessError {
  override readonly name = "TransportError";
  constructor(message: string, options?: { cause?: unknown }) {
    super("transport_failed", message, options);
  }
}

/** A value or option that a caller passed cannot be used. */
export class InvalidArgumentError extends HarnessError {
  override readonly name = "InvalidArgumentError";
  constructor(message: string, options?: { cause?: unknown }) {
    super("invalid_argument", message, options);
  }
}
