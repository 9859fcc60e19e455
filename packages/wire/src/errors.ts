const marker = Symbol.for("harnesskit.error");

/** What a class and its copies have in common; the class itself where it has no brand of its own. */
const brandOf = (type: object & { readonly brand?: unknown }): unknown =>
  Object.hasOwn(type, "brand") ? type.brand : type;

function isInstance<Type extends abstract new (...args: never[]) => HarnessError>(
  this: Type,
  value: unknown,
): value is InstanceType<Type> {
  if (typeof value !== "object" || value === null || !(marker in value)) return false;
  const brand = brandOf(this);
  for (let type = value.constructor; typeof type === "function"; type = Object.getPrototypeOf(type)) {
    if (brandOf(type) === brand) return true;
  }
  // An error of a package that does not depend on this one has the marker alone.
  return brand === HarnessError.brand;
}

/**
 * The base of every error this project throws. `code` is a stable string for programs, `message` is for people,
 * `cause` is kept.
 */
export class HarnessError<Code extends string = string> extends Error {
  /**
   * The class's name, for `name` and for `isInstance`: a bundler may rename a class, not its brand. A subclass without a
   * brand of its own is recognised within one copy of it.
   */
  static readonly brand: string = "HarnessError";
  override readonly name: string;
  readonly [marker] = true;
  readonly code: Code;

  constructor(code: Code, message: string, options?: { cause?: unknown }) {
    // An error that has a `cause` of undefined is shown with it.
    super(message, options?.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.brand;
    this.code = code;
  }

  /**
   * True for an error of this class or of a subclass, also where another copy of the package made it. Call it on its class:
   * it cannot be passed as a function.
   */
  static readonly isInstance = isInstance;
}

/** The channel is closed: nothing more can be sent, and what was pending will not be answered. */
export class ConnectionClosedError extends HarnessError<"connection_closed"> {
  static override readonly brand = "ConnectionClosedError";
  constructor(message = "the connection is closed", options?: { cause?: unknown }) {
    super("connection_closed", message, options);
  }
}

/** A request was not answered before its deadline. */
export class RequestTimeoutError extends HarnessError<"request_timeout"> {
  static override readonly brand = "RequestTimeoutError";
  constructor(
    readonly method: string,
    readonly timeoutMs: number,
    /** What to check. */
    hint?: string,
  ) {
    const more = hint === undefined ? "" : `: ${hint}`;
    super("request_timeout", `${method} was not answered within ${timeoutMs} ms${more}`);
  }
}

/** A request was given up by its own caller. */
export class RequestCancelledError extends HarnessError<"request_cancelled"> {
  static override readonly brand = "RequestCancelledError";
  constructor(
    readonly method: string,
    options?: { cause?: unknown },
  ) {
    super("request_cancelled", `${method} was cancelled by its caller`, options);
  }
}

/** The first and the last bytes of a line that a codec with `keepLines` dropped: the sender's. */
export interface LineEnds {
  readonly first: string;
  readonly last: string;
}

/** A message is larger than the limit of its connection, in either direction. */
export class FrameTooLargeError extends HarnessError<"frame_too_large"> {
  static override readonly brand = "FrameTooLargeError";
  constructor(
    readonly maxFrameBytes: number,
    readonly ends?: LineEnds,
    /** What to check. */
    hint?: string,
  ) {
    const more = hint === undefined ? "" : `: ${hint}`;
    super("frame_too_large", `a message exceeds the limit of ${maxFrameBytes} bytes${more}`);
  }
}

/**
 * What arrived is not a message: not JSON, not UTF-8, cut in the middle or nested too deeply; an answer to no request
 * (`late_answer`: to one that is over); or so much of this in a row that the connection is closed (`faults_in_a_row`).
 */
export class InvalidMessageError extends HarnessError<"invalid_message"> {
  static override readonly brand = "InvalidMessageError";
  readonly ends?: LineEnds | undefined;
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
    options?: { cause?: unknown; ends?: LineEnds },
  ) {
    super("invalid_message", message, options);
    this.ends = options?.ends;
  }
}

/** A bounded queue is full, because the other side reads or answers too slowly. Nothing of this call was sent. */
export class BufferFullError extends HarnessError<"buffer_full"> {
  static override readonly brand = "BufferFullError";
  constructor(
    readonly limitName: string,
    readonly limit: number,
  ) {
    super("buffer_full", `${limitName} of ${limit} is reached`);
  }
}

/** The operating system or the network failed below the channel. */
export class TransportError extends HarnessError<"transport_failed"> {
  static override readonly brand = "TransportError";
  constructor(message: string, options?: { cause?: unknown }) {
    super("transport_failed", message, options);
  }
}

/** A value or option that a caller passed cannot be used. */
export class InvalidArgumentError extends HarnessError<"invalid_argument"> {
  static override readonly brand = "InvalidArgumentError";
  constructor(message: string, options?: { cause?: unknown }) {
    super("invalid_argument", message, options);
  }
}
