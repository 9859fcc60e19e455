import { z } from "zod";
import type { MethodTable } from "../envelope/method-table.ts";
import { ApprovalDecisionSchema } from "./item.ts";
import { EventSchema } from "./notifications.ts";
import { InputPartSchema, ModelRefSchema, ThreadSchema } from "./thread.ts";

/** The version of the protocol that `initialize` answers with. */
export const THREAD_PROTOCOL_VERSION = "1.0.0";

const OkSchema = z.object({ ok: z.literal(true) });

/** What a server can do. The five names of the spec are always there; further ones announce extensions. */
export const ThreadCapabilitiesSchema = z
  .object({
    threads: z.boolean(),
    turns: z.boolean(),
    approvals: z.boolean(),
    streaming: z.boolean(),
    persistence: z.boolean(),
  })
  .catchall(z.unknown());
export type ThreadCapabilities = z.infer<typeof ThreadCapabilitiesSchema>;

/** The requests from client to server (section "Methods"). */
export const threadMethods = {
  initialize: {
    params: z
      .object({ clientInfo: z.object({ name: z.string(), version: z.string().optional() }).optional() })
      .optional(),
    result: z.object({ version: z.string(), capabilities: ThreadCapabilitiesSchema }),
  },
  "thread.create": {
    params: z
      .object({ title: z.string().max(1000).optional(), directory: z.string().min(1).optional() })
      .optional(),
    result: z.object({ thread: ThreadSchema }),
  },
  "thread.list": {
    params: z.object({}).optional(),
    result: z.object({ threads: z.array(ThreadSchema) }),
  },
  "thread.get": {
    params: z.object({
      threadId: z.string(),
      afterSeq: z.int().nonnegative().optional(),
      limit: z.int().positive().optional(),
    }),
    result: z.object({ thread: ThreadSchema, events: z.array(EventSchema) }),
  },
  "turn.start": {
    params: z.object({
      threadId: z.string(),
      input: z.array(InputPartSchema).min(1),
      model: ModelRefSchema.optional(),
      agent: z.string().min(1).optional(),
    }),
    result: z.object({ turnId: z.string() }),
  },
  "approval.respond": {
    params: z.object({ requestId: z.string(), decision: ApprovalDecisionSchema }),
    result: OkSchema,
  },
  "turn.cancel": {
    params: z.object({ threadId: z.string() }),
    result: OkSchema,
  },
} as const satisfies MethodTable;

export type ThreadMethodName = keyof typeof threadMethods;

/** The parameters of the method `M`. */
export type ThreadMethodParams<M extends ThreadMethodName> = z.infer<(typeof threadMethods)[M]["params"]>;

/** The result of the method `M`. */
export type ThreadMethodResult<M extends ThreadMethodName> = z.infer<(typeof threadMethods)[M]["result"]>;
