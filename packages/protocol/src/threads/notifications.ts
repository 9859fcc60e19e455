import * as z from "zod";
import { JsonObjectSchema } from "../envelope/json.ts";
import type { NotificationTable } from "../envelope/method-table.ts";
import { discriminatedUnion } from "../fields.ts";
import { tolerant } from "../null-as-absent.ts";
import { ApprovalDecisionSchema, ApprovalMetadataSchema, ItemSchema, ItemTypeSchema } from "./item.ts";
import { QueuedTurnSchema, ThreadSchema, TimestampSchema, TurnSchema, UsageSchema } from "./thread.ts";

/** Where the notification stands in its thread's log: what `afterSeq` continues from. Not part of an event's `data`. */
const numbered = { seq: z.int().positive().optional(), time: TimestampSchema.optional() };
const inThread = { threadId: z.string(), ...numbered };
const inTurn = { ...inThread, turnId: z.string() };
/** A step of a turn: one request to the model, counted from 0. */
const ofStep = { ...inTurn, step: z.int().nonnegative() };
const ofItem = { ...inTurn, itemId: z.string() };

/** The notifications from server to client (section "Notifications"), with their parameters. */
export const threadNotifications = {
  "thread.created": tolerant(() => ({ ...inThread, thread: ThreadSchema })),
  /** The thread was renamed, archived or restored from the archive (extensions `rename`, `archive`). */
  "thread.updated": tolerant(() => ({ ...inThread, thread: ThreadSchema })),
  /** The events before this one are copies of another thread's; what was open there is closed before it (extension `fork`). */
  "thread.forked": tolerant(() => ({
    ...inThread,
    from: tolerant(() => ({ threadId: z.string(), seq: z.int().positive() })),
  })),
  /** A prompt waits for the end of the active turn (extension `queue`). It begins with `turn.started` of the same turnId. */
  "turn.queued": tolerant(() => ({ ...inTurn, queued: QueuedTurnSchema })),
  /** A prompt that waited was cancelled, and will not begin. `turn` says when; `reason` says why. */
  "turn.dequeued": tolerant(() => ({
    ...inTurn,
    reason: z.enum(["cancelled", "archived", "forked"]),
    turn: TurnSchema,
  })),
  "turn.started": tolerant(() => ({
    ...inTurn,
    turn: TurnSchema,
    /** The number of the oldest `turn.queued` whose prompt still waits; absent for an empty queue. */
    queuedSince: z.int().positive().optional(),
    /** The number of the event that completed the last summary (extension `compact`). */
    summarySeq: z.int().positive().optional(),
  })),
  /** What a request to the model brought, on a server that goes on with interrupted turns: from here on it is not made again. */
  "turn.step": tolerant(() => ({
    ...ofStep,
    calls: z.array(
      tolerant(() => ({
        callId: z.string().optional(),
        index: z.int().nonnegative().optional(),
        tool: z.string(),
        input: JsonObjectSchema,
        /** Why the input is not what the model wrote. */
        problem: z.string().optional(),
        providerMetadata: z.record(z.string(), JsonObjectSchema).optional(),
      })),
    ),
    usage: UsageSchema.optional(),
  })),
  /** The turn goes on with this step: what the model said in it before is not part of the conversation. */
  "turn.resumed": tolerant(() => ({
    ...ofStep,
    /** Its server ended, or the model's stream broke off or fell silent. */
    reason: z.enum(["interrupted", "model_stream"]),
    /** With `interrupted`: how often in a row the turn has gone on without getting further, from 1. */
    attempt: z.int().positive(),
  })),
  "turn.completed": tolerant(() => ({
    ...inTurn,
    status: z.enum(["completed", "cancelled"]),
    turn: TurnSchema,
  })),
  "turn.error": tolerant(() => ({ ...inTurn, error: z.string(), code: z.string(), turn: TurnSchema })),
  "item.started": tolerant(() => ({ ...ofItem, type: ItemTypeSchema, item: ItemSchema })),
  /** An item that was started is another now: a call has begun, or waits with another input (extension `itemUpdated`). */
  "item.updated": tolerant(() => ({ ...ofItem, type: ItemTypeSchema, item: ItemSchema })),
  "item.delta": tolerant(() => ({ ...ofItem, type: ItemTypeSchema, delta: z.string() })),
  "item.completed": tolerant(() => ({ ...ofItem, type: ItemTypeSchema, item: ItemSchema })),
  "approval.requested": tolerant(() => ({
    ...ofItem,
    requestId: z.string(),
    permission: z.string(),
    metadata: ApprovalMetadataSchema,
  })),
  "approval.resolved": tolerant(() => ({
    ...ofItem,
    requestId: z.string(),
    decision: ApprovalDecisionSchema.optional(),
    resolvedBy: z.string(),
    reason: z.string().optional(),
  })),
  "thread.deleted": tolerant(() => ({ threadId: z.string() })),
} as const satisfies NotificationTable;

export type ThreadNotificationName = keyof typeof threadNotifications;

/** The parameters of the notification `N`. */
export type ThreadNotificationParams<N extends ThreadNotificationName> = z.infer<
  (typeof threadNotifications)[N]
>;

/** The notifications that are events of a thread's log: all but the one that tells of the log's end. */
export type EventName = Exclude<ThreadNotificationName, "thread.deleted">;

/** An event of one type. */
export interface EventOf<N extends EventName> {
  seq: number;
  time: number;
  type: N;
  data: ThreadNotificationParams<N>;
}

/** One line of a thread's event log: a notification as it was sent, numbered from 1 without a gap. */
export type Event = { [N in EventName]: EventOf<N> }[EventName];

/** An event before it has its number and time: a notification's name and parameters. */
export type EventBody = {
  [N in EventName]: Pick<EventOf<N>, "type" | "data">;
}[EventName];

const { "thread.deleted": _deleted, ...events } = threadNotifications;
const eventSchemas = Object.entries(events).map(([type, data]) =>
  tolerant(() => ({ seq: z.int().positive(), time: TimestampSchema, type: z.literal(type), data })),
);

export const EventSchema = discriminatedUnion(
  "type",
  eventSchemas as [(typeof eventSchemas)[number]],
) as z.ZodType as z.ZodType<Event>;
