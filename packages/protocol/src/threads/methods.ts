import * as z from "zod";
import { boundedString } from "../checked.ts";
import { JsonObjectSchema } from "../envelope/json.ts";
import type { MethodTable } from "../envelope/method-table.ts";
import { tolerant } from "../null-as-absent.ts";
import { ApprovalDecisionSchema, GrantMatchSchema, GrantScopeSchema } from "./item.ts";
import { EventSchema } from "./notifications.ts";
import { ArchivedSchema, threadSearch } from "./search.ts";
import {
  InputPartSchema,
  ModelRefSchema,
  QueuedTurnSchema,
  ThreadSchema,
  TimestampSchema,
  WhenBusySchema,
} from "./thread.ts";

/** The version of the protocol that `initialize` answers with. */
export const THREAD_PROTOCOL_VERSION = "1.0.0";

const OkSchema = tolerant(() => ({ ok: z.literal(true) }));

const ThreadResultSchema = tolerant(() => ({ thread: ThreadSchema }));

/**
 * A name that the client makes up for a request, so that it can be sent again: the same id with the same payload gives
 * the same answer and no second effect, with another payload it is refused.
 */
const ClientRequestIdSchema = z.string().min(1).max(200);

/** A title that a human gives: 1 to 1000 characters of one line, without control characters. */
const TitleSchema = z
  .string()
  .min(1)
  .max(1000)
  .regex(/^[^\p{Cc}\p{Zl}\p{Zp}]*$/u, { message: "a title has no control characters and no line breaks" });

/** An `always` answer that holds. */
export const GrantSchema = tolerant(() => ({
  grantId: z.string(),
  scope: GrantScopeSchema,
  threadId: z.string(),
  directory: z.string(),
  tool: z.string(),
  input: JsonObjectSchema,
  digest: z.string(),
  /** `start`: it holds for commands that go on with plain arguments after the one of `input`, too. @default for exactly `input` */
  match: GrantMatchSchema.optional(),
  /** The digest of the preview that was shown; the answer holds for no other. */
  previewDigest: z.string().optional(),
  requestId: z.string(),
  grantedBy: z.string(),
  time: z.number().nonnegative(),
}));
export type Grant = z.infer<typeof GrantSchema>;

/** What a server can do. The five names of the spec are always there; further ones announce extensions. */
export const ThreadCapabilitiesSchema = z
  .object({
    threads: z.boolean(),
    turns: z.boolean(),
    approvals: z.boolean(),
    streaming: z.boolean(),
    /** Threads outlive the server's process. */
    persistence: z.boolean(),
  })
  .catchall(z.unknown());
export type ThreadCapabilities = z.infer<typeof ThreadCapabilitiesSchema>;

/** The requests from client to server (section "Methods"); those and the params that the spec does not have are extensions. */
export const threadMethods = {
  initialize: {
    params: tolerant(() => ({
      clientInfo: tolerant(() => ({ name: z.string(), version: z.string().optional() })).optional(),
    })).optional(),
    result: tolerant(() => ({ version: z.string(), capabilities: ThreadCapabilitiesSchema })),
  },
  "thread.create": {
    params: tolerant(() => ({
      /** @default "New thread" */
      title: boundedString(1000).optional(),
      directory: z.string().min(1).optional(),
      clientRequestId: ClientRequestIdSchema.optional(),
    })).optional(),
    result: tolerant(() => ({ thread: ThreadSchema })),
  },
  "thread.list": {
    params: tolerant(() => ({
      /** At most so many threads, fewer where they do not fit in a message. @default all; an error where they do not fit */
      limit: z.int().positive().optional(),
      /** The `nextCursor` of the page before. */
      cursor: z.string().optional(),
      /** Only threads of this directory. */
      directory: z.string().optional(),
      /** Only threads whose title contains this string, in any case. */
      title: z.string().optional(),
      /** Only threads that were used after this time, in milliseconds since the epoch. */
      updatedAfter: z.number().optional(),
      /** Archived threads too, or only these (extension `archive`). @default none of them */
      archived: ArchivedSchema.optional(),
    })).optional(),
    result: tolerant(() => ({
      threads: z.array(ThreadSchema),
      /** More threads follow, with this `cursor`; only where there was a `limit`. */
      nextCursor: z.string().optional(),
    })),
  },
  "thread.get": {
    params: tolerant(() => ({
      threadId: z.string(),
      /** Events with a greater number. @default 0 */
      afterSeq: z.int().nonnegative().optional(),
      /** At most so many events, fewer where they do not fit in a message. @default all; an error where they do not fit */
      limit: z.int().positive().optional(),
    })),
    result: tolerant(() => ({
      thread: ThreadSchema,
      events: z.array(EventSchema),
      lastSeq: z.int().nonnegative().optional(),
      /** More events follow, with this `afterSeq`. */
      nextAfterSeq: z.int().positive().optional(),
    })),
  },
  "thread.subscribe": {
    params: tolerant(() => ({
      threadId: z.string(),
      /** Events with a greater number are sent, those of the past first. @default only what comes */
      afterSeq: z.int().nonnegative().optional(),
      /** The time of the event `afterSeq` as it was heard; refused when the log has another one there. @default not compared */
      afterTime: TimestampSchema.optional(),
    })),
    result: tolerant(() => ({
      thread: ThreadSchema,
      lastSeq: z.int().nonnegative(),
      /** The time of that event. */
      lastTime: TimestampSchema.optional(),
    })),
  },
  "thread.unsubscribe": { params: tolerant(() => ({ threadId: z.string() })), result: OkSchema },
  "thread.delete": { params: tolerant(() => ({ threadId: z.string() })), result: OkSchema },
  "thread.rename": {
    params: tolerant(() => ({ threadId: z.string(), title: TitleSchema })),
    result: ThreadResultSchema,
  },
  "thread.archive": { params: tolerant(() => ({ threadId: z.string() })), result: ThreadResultSchema },
  "thread.unarchive": { params: tolerant(() => ({ threadId: z.string() })), result: ThreadResultSchema },
  "thread.fork": {
    params: tolerant(() => ({
      threadId: z.string(),
      /** The last event that the new thread begins with. @default the last one that there is */
      seq: z.int().positive().optional(),
      /** @default the title of the source */
      title: TitleSchema.optional(),
      clientRequestId: ClientRequestIdSchema.optional(),
    })),
    result: ThreadResultSchema,
  },
  "thread.search": threadSearch,
  "thread.compact": {
    params: tolerant(() => ({
      threadId: z.string(),
      /** The model that makes the summary. @default the server's choice */
      model: ModelRefSchema.optional(),
      clientRequestId: ClientRequestIdSchema.optional(),
    })),
    /** The turn that makes a summary of all turns before it (extension `compact`). */
    result: tolerant(() => ({ turnId: z.string() })),
  },
  "turn.start": {
    params: tolerant(() => ({
      threadId: z.string(),
      input: z.array(InputPartSchema).min(1),
      model: ModelRefSchema.optional(),
      agent: z.string().min(1).optional(),
      /** While a turn is active (extension `queue`). @default the server's choice, "reject" */
      whenBusy: WhenBusySchema.optional(),
      clientRequestId: ClientRequestIdSchema.optional(),
    })),
    result: tolerant(() => ({
      turnId: z.string(),
      /** The prompt waits: how many have to begin for it to begin, itself included (extension `queue`). */
      queued: tolerant(() => ({ position: z.int().positive() })).optional(),
    })),
  },
  "queue.list": {
    params: tolerant(() => ({ threadId: z.string() })),
    /** In the order in which they begin. */
    result: tolerant(() => ({ queued: z.array(QueuedTurnSchema) })),
  },
  "approval.respond": {
    params: tolerant(() => ({
      requestId: z.string(),
      decision: ApprovalDecisionSchema,
      /** With `reject`: no user could be asked. */
      reason: z.literal("unattended").optional(),
      /** With `reject`: the user's reason, which the agent reads. */
      note: z.string().min(1).max(2000).optional(),
      /** With `always`: how far it reaches. @default "thread" */
      scope: GrantScopeSchema.optional(),
      /** With `always`: `start` is refused for a call that has no start which stands for it. @default exactly this call */
      match: GrantMatchSchema.optional(),
      /** The digest that the user was shown; another one than the call's is refused. */
      digest: z.string().optional(),
      clientRequestId: ClientRequestIdSchema.optional(),
    })),
    result: OkSchema,
  },
  "turn.cancel": {
    params: tolerant(() => ({
      threadId: z.string(),
      /** Only this turn, which is active or waits in the queue (extension `queue`). @default the active one */
      turnId: z.string().optional(),
    })),
    result: OkSchema,
  },
  "grant.list": {
    params: tolerant(() => ({
      threadId: z.string().optional(),
      directory: z.string().optional(),
    })).optional(),
    result: tolerant(() => ({ grants: z.array(GrantSchema) })),
  },
  "grant.revoke": { params: tolerant(() => ({ grantId: z.string() })), result: OkSchema },
} as const satisfies MethodTable;

export type ThreadMethodName = keyof typeof threadMethods;

/** The parameters of the method `M`. */
export type ThreadMethodParams<M extends ThreadMethodName> = z.infer<(typeof threadMethods)[M]["params"]>;

/** The result of the method `M`. */
export type ThreadMethodResult<M extends ThreadMethodName> = z.infer<(typeof threadMethods)[M]["result"]>;
