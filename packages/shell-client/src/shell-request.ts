import type {
  AttachmentRef,
  Continuation,
  EnvironmentState,
  Extensions,
  TaskHint,
} from "@harnesskit/protocol/openharness";

/** One thing that a shell asks of its engine. */
export interface ShellAsk {
  /** What the user wants (`user_intent`). @default none */
  readonly intent?: string;
  /** Where it should go: `sop_id`, `plugin_id`, `business_key`, or keys of the deployment. @default none */
  readonly taskHint?: TaskHint;
  /** References; one that holds data is refused (section 9.1). @default none */
  readonly attachments?: readonly AttachmentRef[];
  /** What the shell knows of its surroundings; what leaves is decided by the client's `environment`. @default none */
  readonly environment?: EnvironmentState;
  /** `context.extensions`. The key `dev.harnesskit` is the client's own. @default none */
  readonly extensions?: Extensions;
  /** Another continuation than the session's; false for none. @default the session's */
  readonly continuation?: Continuation | false;
  /** The same for everything that comes of this call; 1 to 512 characters. @default a new one */
  readonly correlationId?: string;
  /** The trace that the call belongs to, as W3C Trace Context writes it. @default a new trace */
  readonly traceparent?: string;
  /** Gives up: what runs is told, what has not begun is `not_reached`. @default none */
  readonly signal?: AbortSignal;
}
