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
 * response. Where the shell gets no stream, reads too slowly or has gone, and after the response, everything is dropped.
 */
export interface ShellStream {
  /** Whether a stream was opened for this request. */
  readonly isOpen: boolean;
  /** Adds text to a message. An id has 1 to 128 characters. */
  text(delta: string, messageId?: string): void;
  /** Reports the progress of a directive, under an id of your own of 1 to 128 characters. */
  progress(directiveId: string, progress?: DirectiveProgress): void;
}

/** What a handler gets whose response is not a stream. */
export const noStream: ShellStream = { isOpen: false, text() {}, progress() {} };
