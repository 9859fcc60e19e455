/**
 * What is known of a response before it is there. Previews: they are shown, never carried out, and go when the stream has ended,
 * because the response follows.
 */
export type ShellStreamEvent = {
  /** The request that the stream answers. */
  readonly requestId: string;
} & (
  | {
      /** The engine works, and previews may follow. What is shown of an earlier stream of this request goes. */
      readonly type: "opened";
    }
  | {
      /** More of a message. */
      readonly type: "text";
      readonly messageId: string;
      /** Untrusted text of the engine; it may end in the middle of a character. */
      readonly delta: string;
    }
  | {
      /** How far a directive has got. */
      readonly type: "progress";
      readonly directiveId: string;
      readonly state: "running" | "done" | "failed";
      /** Untrusted text of the engine. */
      readonly message?: string | undefined;
      readonly actionType?: string | undefined;
      /** From 0 to 1. */
      readonly fraction?: number | undefined;
    }
  | {
      /** The response or the failure is there, or the connection is cut: then the response follows without previews. Once for each `opened`. */
      readonly type: "ended";
    }
);

type Fact<E> = E extends unknown ? Omit<E, "requestId"> : never;
/** An event without its request. */
export type StreamFact = Fact<ShellStreamEvent>;
