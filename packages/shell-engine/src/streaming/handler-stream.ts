import { InvalidArgumentError } from "@harnesskit/wire";
import type { Progress, ResponseStream } from "./response-stream.ts";

/** How far a directive has got. */
export interface DirectiveProgress {
  /** @default "running" */
  readonly state?: "running" | "done" | "failed";
  /** For the user. What is longer than 1000 characters is cut. @default none */
  readonly message?: string;
  /** @default not said */
  readonly actionType?: string;
  /** From 0 to 1. @default not known */
  readonly fraction?: number;
}

/**
 * Shows a shell what its response is going to be while the handler works (`dev.harnesskit.stream`): previews, which the shell replaces by the
 * response. Where the shell gets no stream, reads too slowly or has gone, and after the response, everything is checked and dropped.
 */
export interface ShellStream {
  /** Whether a stream was opened for this request. */
  readonly isOpen: boolean;
  /** Adds text to a message. Throws `invalid_argument` for arguments that are not strings, or an id that is empty or too long. */
  text(delta: string, messageId?: string): void;
  /** Reports the progress of a directive, under an id of your own. Throws `invalid_argument`. */
  progress(directiveId: string, progress?: DirectiveProgress): void;
}

const maxIdLength = 128;
const maxMessageLength = 1_000;
const states: ReadonlySet<string> = new Set(["running", "done", "failed"]);

const assertId = (name: string, id: unknown): void => {
  if (typeof id === "string" && id !== "" && id.length <= maxIdLength) return;
  throw new InvalidArgumentError(`${name} must be a string of 1 to ${maxIdLength} characters`);
};

const assertProgress = ({ state, message, actionType, fraction }: DirectiveProgress): void => {
  if (state !== undefined && !states.has(state)) {
    throw new InvalidArgumentError('state must be "running", "done" or "failed"');
  }
  if (message !== undefined && typeof message !== "string") {
    throw new InvalidArgumentError("message must be a string");
  }
  if (actionType !== undefined) assertId("actionType", actionType);
  if (fraction !== undefined && !(typeof fraction === "number" && fraction >= 0 && fraction <= 1)) {
    throw new InvalidArgumentError("fraction must be a number from 0 to 1");
  }
};

/** The stream of one handler, with or without one that is sent. */
export class HandlerStream implements ShellStream {
  readonly #stream: ResponseStream | undefined;

  constructor(stream: ResponseStream | undefined) {
    this.#stream = stream;
  }

  get isOpen(): boolean {
    return this.#stream !== undefined && !this.#stream.isEnded;
  }

  readonly text = (delta: string, messageId = "1"): void => {
    if (typeof delta !== "string") throw new InvalidArgumentError("delta must be a string");
    assertId("messageId", messageId);
    this.#stream?.text(messageId, delta);
  };

  readonly progress = (directiveId: string, given: DirectiveProgress = {}): void => {
    assertId("directiveId", directiveId);
    assertProgress(given);
    const { state = "running", message, actionType, fraction } = given;
    const progress: Progress = {
      directive_id: directiveId,
      state,
      message: message === undefined ? undefined : message.slice(0, maxMessageLength),
      action_type: actionType,
      fraction,
    };
    this.#stream?.progress(progress);
  };
}
