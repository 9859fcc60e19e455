import type { Thread } from "@harnesskit/protocol/threads";
import type { Approvals } from "./approvals.ts";
import type { Connections } from "./connections.ts";
import type { EventLog } from "./event-log.ts";
import type { ServerSettings } from "./server-settings.ts";
import type { ThreadState } from "./thread-state.ts";
import type { TurnLife } from "./turn-life.ts";

export interface ThreadTurnsOptions {
  readonly settings: ServerSettings;
  readonly connections: Connections;
  readonly approvals: Approvals;
  readonly log: EventLog;
  readonly state: ThreadState;
  readonly thread: () => Thread;
  /** Rejects if the thread's directory is not one that it may have. */
  readonly checkDirectory: () => Promise<void>;
  /** True while the thread takes no prompts. */
  readonly isArchived: () => boolean;
  /** True if the log was changed from outside: nothing more begins. */
  readonly isLost: () => boolean;
  /** Stores what is known of the thread, with the number of its prompts that wait. */
  readonly save: () => Promise<void>;
  /** Stores that the thread is used now. */
  readonly touch: () => Promise<void>;
  /** Called when a turn has ended and the thread is updated. */
  readonly onTurnOver: () => void;
}

/** A turn that a request started, or a prompt that waits to be one. */
export interface StartedTurn {
  readonly turnId: string;
  /** The place of a prompt that waits, from 1. */
  readonly position?: number | undefined;
  /** Left out for a request that was served before. */
  readonly life?: TurnLife;
}
