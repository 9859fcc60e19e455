import * as z from "zod";
import type { MethodTable, NotificationTable } from "../envelope/method-table.ts";
import { object } from "../fields.ts";
import { ActivityGroupSchema, ActivityKeySchema } from "./activity.ts";
import { AgentStateSchema, HubSessionStateSchema } from "./agents.ts";
import { ApprovalRecordSchema, ApprovalStatusSchema, EffectSchema } from "./approval.ts";
import { ControlActionSchema } from "./control.ts";
import { DeviceSchema, PairingLinkSchema, PairingSchema, PushSubscriptionSchema } from "./devices.ts";
import { AlwaysSchema, GrantSchema, GrantTermsSchema } from "./grant.ts";
import { BacktestResultSchema, PolicyCheckSchema, PolicyStateSchema } from "./policy.ts";
import {
  TimelineDetailSchema,
  TimelineFilterSchema,
  TimelinePageSchema,
  TimelineRowSchema,
} from "./timeline.ts";
import {
  AfterSeqSchema,
  DigestSchema,
  IdSchema,
  SequenceSchema,
  TimeMsSchema,
  WordsSchema,
} from "./values.ts";

/** The version of the hub's API that `hub.hello` answers with. */
export const HUB_API_VERSION = "1.0.0";

const LimitSchema = z.int().positive().max(200);
/** Of rows and sessions, which are small. */
const LongLimitSchema = z.int().positive().max(500);
const WatchIdSchema = z.string();
const PolicyTextSchema = z.string().min(1).max(1_000_000);

/** The requests from a client to the hub. `hub.hello` is the first. */
export const hubMethods = {
  "hub.hello": {
    /** `name` is what `answer.by` shows, after the name of the user that the hub knows. */
    params: object(() => ({ client: z.object({ name: IdSchema, version: z.string().max(100).optional() }) })),
    result: object(() => ({
      version: z.string(),
      hub: z.object({
        name: z.string(),
        version: z.string(),
        startedAtMs: TimeMsSchema,
        /** Arguments of `harness` as a shell takes them: what starts this hub again, and what gives an agent a task under it. */
        commands: z.object({ start: z.string(), run: z.string() }).optional(),
        /** A policy that this hub had before and was started without, and the arguments that start it with that one. */
        formerPolicy: z.object({ file: z.string(), start: z.string() }).optional(),
      }),
      /** What this client's answers are recorded as. */
      by: z.string(),
      /** The default and longest duration of a grant. */
      grantMs: z.int().positive(),
      /** The device at this connection, with what it may do. Absent: the hub's user, who may do everything. */
      device: DeviceSchema.optional(),
      /** The key that a device's push service knows the hub by (VAPID, base64url). Absent: the hub sends no pushes. */
      pushKey: z.string().optional(),
    })),
  },
  /** Records in the order of their last change. `status: "pending"` is what waits. */
  "inbox.list": {
    params: z
      .object({
        status: ApprovalStatusSchema.optional(),
        effect: EffectSchema.optional(),
        agent: IdSchema.optional(),
        session: IdSchema.optional(),
        afterSeq: AfterSeqSchema.optional(),
        limit: LimitSchema.optional(),
      })
      .optional(),
    result: object(() => ({ records: z.array(ApprovalRecordSchema), nextSeq: AfterSeqSchema })),
  },
  "inbox.get": { params: z.object({ id: IdSchema }), result: z.object({ record: ApprovalRecordSchema }) },
  /** `inbox.changed` for each record whose last change is after `afterSeq` (default: only what comes), now and later. */
  "inbox.watch": {
    params: object(() => ({ afterSeq: AfterSeqSchema.optional() })).optional(),
    result: z.object({ watchId: WatchIdSchema, afterSeq: AfterSeqSchema }),
  },
  /** The first answer counts. `digest` is that of the record that was shown. */
  "inbox.answer": {
    params: z
      .object({
        id: IdSchema,
        digest: DigestSchema,
        decision: z.enum(["approve", "reject"]),
        /** Why; the agent gets it. */
        note: WordsSchema.optional(),
        /** With `approve`: gives a grant too. Show it first: `inbox.previewGrant`. */
        always: AlwaysSchema.optional(),
      })
      .refine(({ decision, always }) => decision === "approve" || always === undefined, {
        path: ["always"],
        message: "a rejection gives no grant",
      }),
    result: z.object({ record: ApprovalRecordSchema }),
  },
  /**
   * The grant that an answer with `always` would give, in data and in safe lines, and refused as that answer would be. Lines that begin with
   * `careful:` say where it allows more than it seems to. Gives nothing.
   */
  "inbox.previewGrant": {
    params: z.object({ id: IdSchema, always: AlwaysSchema }),
    result: object(() => ({ terms: GrantTermsSchema, lines: z.array(z.string()) })),
  },
  /** All grants, those that are over included while they are kept; `lines` are safe to show. */
  "grants.list": {
    params: z.object({}).optional(),
    result: object(() => ({ grants: z.array(z.object({ grant: GrantSchema, lines: z.array(z.string()) })) })),
  },
  /** Ends a grant and withdraws its approvals that were not taken. */
  "grants.revoke": { params: z.object({ id: IdSchema }), result: z.object({ grant: GrantSchema }) },
  /** Those that were paired last first; revoked ones while they are kept. For the hub's user. */
  "devices.list": {
    params: z.object({}).optional(),
    result: object(() => ({ devices: z.array(DeviceSchema) })),
  },
  /** A link that pairs one device, once and within five minutes. For the hub's user. */
  "devices.pair": { params: PairingSchema, result: PairingLinkSchema },
  /** Refuses a device from now on, and ends its connections. For the hub's user, and for the device itself. */
  "devices.revoke": { params: z.object({ id: IdSchema }), result: z.object({ device: DeviceSchema }) },
  /** Where pushes to this device go; absent: nowhere any more. For a device. */
  "devices.subscribe": {
    params: object(() => ({ subscription: PushSubscriptionSchema.optional() })),
    result: z.object({ device: DeviceSchema }),
  },
  "timeline.page": {
    params: z
      .object({
        filter: TimelineFilterSchema.optional(),
        /** @default the newest */
        beforeId: SequenceSchema.optional(),
        /** @default 100 */
        limit: LongLimitSchema.optional(),
      })
      .optional(),
    result: TimelinePageSchema,
  },
  /** `timeline.changed` for rows that fit the filter and whose last change is after `afterSeq` (default: only what comes). */
  "timeline.watch": {
    params: z
      .object({ filter: TimelineFilterSchema.optional(), afterSeq: AfterSeqSchema.optional() })
      .optional(),
    result: z.object({ watchId: WatchIdSchema, afterSeq: AfterSeqSchema }),
  },
  "timeline.get": { params: z.object({ id: SequenceSchema }), result: TimelineDetailSchema },
  /** Rows of a session with their content, the oldest first. */
  "timeline.read": {
    params: object(() => ({
      agent: IdSchema,
      session: IdSchema,
      turn: IdSchema.optional(),
      /** @default from the first row */
      afterId: AfterSeqSchema.optional(),
      /** @default 100 */
      limit: LimitSchema.optional(),
    })),
    result: object(() => ({
      /** Without their approvals. Fewer than asked for where they are large. */
      details: z.array(TimelineDetailSchema),
      /** `afterId` of the next page; absent at the end. */
      nextAfterId: SequenceSchema.optional(),
    })),
  },
  /** Ends a watch of this connection. */
  "watch.cancel": {
    params: z.object({ watchId: WatchIdSchema }),
    result: object(() => ({ ok: z.literal(true) })),
  },
  /** Those seen last first. */
  "agents.list": {
    params: z.object({}).optional(),
    result: object(() => ({ agents: z.array(AgentStateSchema) })),
  },
  /**
   * Tells the agent of a session something: resolves when it has done it. Refused with `agent_not_connected`, `agent_not_controllable`
   * (it does not take such commands), `agent_refused` (the message says why) and `agent_did_not_answer` (it may still do it).
   */
  "agents.control": {
    params: z
      .object({
        agent: IdSchema,
        session: IdSchema,
        action: ControlActionSchema,
        text: WordsSchema.optional(),
      })
      .refine(({ action, text }) => (action === "message") === (text !== undefined), {
        path: ["text"],
        message: "`text` is required for a message, and not allowed for other commands",
      }),
    result: object(() => ({ ok: z.literal(true) })),
  },
  /** Those seen last first. */
  "sessions.list": {
    params: z
      .object({
        agent: IdSchema.optional(),
        session: IdSchema.optional(),
        /** Those that were seen then or later. */
        sinceMs: TimeMsSchema.optional(),
        /** Those that began before. */
        untilMs: TimeMsSchema.optional(),
        /** The last session of the page before. */
        after: z.object({ agent: IdSchema, session: IdSchema, lastSeenMs: TimeMsSchema }).optional(),
        /** @default 500 */
        limit: LongLimitSchema.optional(),
      })
      .optional(),
    result: object(() => ({ sessions: z.array(HubSessionStateSchema) })),
  },
  /**
   * What was done, asked and spent, by agent, subagent, session, turn, day or hour, those that were seen last first. The newest rows up to
   * the hub's bound are counted; `isPartial` says that there are older ones.
   */
  "activity.list": {
    params: object(() => ({
      by: z.array(ActivityKeySchema).min(1).max(4),
      filter: TimelineFilterSchema.optional(),
      /** The caller's clock, from UTC. @default 0 */
      utcOffsetMinutes: z.int().min(-1440).max(1440).optional(),
    })),
    result: object(() => ({ groups: z.array(ActivityGroupSchema), isPartial: z.boolean() })),
  },
  "policy.get": { params: z.object({}).optional(), result: z.object({ policy: PolicyStateSchema }) },
  /** Parses `text` as a policy, and decides the event of a row by it. Changes nothing. For the hub's user. */
  "policy.check": {
    params: object(() => ({ text: PolicyTextSchema, rowId: SequenceSchema.optional() })),
    result: PolicyCheckSchema,
  },
  /**
   * Writes `text` to the policy's file, which puts it in force. `was` is the text that was edited: if the file has another one by now,
   * the call is refused (`policy_changed`). For the hub's user.
   */
  "policy.save": {
    params: z.object({ text: PolicyTextSchema, was: PolicyTextSchema }),
    result: z.object({ policy: PolicyStateSchema }),
  },
  /** What a policy would have decided on the stored events. */
  "policy.backtest": {
    params: z
      .object({
        /** Names `policy.progress` of this call. @default none is sent */
        watchId: WatchIdSchema.optional(),
        /** YAML. @default the policy in force */
        text: PolicyTextSchema.optional(),
        sinceMs: TimeMsSchema.optional(),
        untilMs: TimeMsSchema.optional(),
        /** @default 100 */
        maxChanges: LimitSchema.optional(),
      })
      .optional(),
    result: BacktestResultSchema,
  },
} as const satisfies MethodTable;

export type HubMethodName = keyof typeof hubMethods;
/** The params of the method `M`, as a caller gives them. */
export type HubMethodParams<M extends HubMethodName> = z.infer<(typeof hubMethods)[M]["params"]>;
export type HubMethodResult<M extends HubMethodName> = z.infer<(typeof hubMethods)[M]["result"]>;

/** The notifications from the hub to a client, for its watches. */
export const hubNotifications = {
  /** A record as it is now; states in between may be skipped. */
  "inbox.changed": z.object({ watchId: WatchIdSchema, record: ApprovalRecordSchema }),
  /** Rows as they are now, in the order of their changes; go on after a loss from the last one's `seq`. */
  "timeline.changed": object(() => ({
    watchId: WatchIdSchema,
    rows: z.array(TimelineRowSchema).min(1),
    /** `afterSeq` to go on from; rows that do not fit the filter count too. */
    seq: AfterSeqSchema,
  })),
  /** How far a backtest has come. */
  "policy.progress": object(() => ({
    watchId: WatchIdSchema,
    events: z.int().nonnegative(),
    /** The part of the time asked about that is done, by its rows. */
    share: z.number().min(0).max(1),
  })),
  /** The watch ended by itself; `reason` is a code, such as `store_closed`. */
  "watch.ended": object(() => ({ watchId: WatchIdSchema, reason: z.string() })),
} as const satisfies NotificationTable;

export type HubNotificationName = keyof typeof hubNotifications;
export type HubNotificationParams<N extends HubNotificationName> = z.infer<(typeof hubNotifications)[N]>;
