import * as z from "zod";
import { JsonObjectSchema, JsonValueSchema } from "../envelope/json.ts";
import type { MethodTable } from "../envelope/method-table.ts";
import { discriminatedUnion, object } from "../fields.ts";
import { AgentToolResultSchema, CallContextSchema, CallerSchema } from "./calls.ts";
import { ActorSchema, RuntimeErrorSchema } from "./envelope.ts";
import { ToolDeclarationSchema, ToolIdSchema } from "./tools.ts";

// How another process uses the tools of a core: JSON-RPC 2.0, four bytes of length before each message on a Unix socket. It is of
// this project and not of the specification.

const IdSchema = z.string().min(1).max(256);

/** A tool that agents of a core have registered. */
export const RemoteToolSchema = object(() => ({
  ...ToolDeclarationSchema.shape,
  agent_id: z.string(),
  schema_digest: z.string(),
  declaration_digest: z.string(),
  unchecked_patterns: z.int().nonnegative(),
}));

const report = () => {
  const { started_at, finished_at, metrics } = AgentToolResultSchema.shape.payload.shape;
  return { started_at, finished_at, metrics };
};

/** How a call ended, and what its agent says of the run. */
export const RemoteCallResultSchema = discriminatedUnion("status", [
  object(() => ({ status: z.literal("succeeded"), output: JsonObjectSchema, ...report() })),
  object(() => ({ status: z.enum(["failed", "canceled"]), error: RuntimeErrorSchema, ...report() })),
]);

/** What a client may say of a call. Who calls is what the core knows of the client's token. */
const CallOptionsSchema = object(() => ({
  timeout_ms: z.int().positive().optional(),
  idempotency_key: IdSchema.optional(),
  context: CallContextSchema.optional(),
  request_id: IdSchema.optional(),
  correlation_id: IdSchema.optional(),
  causation_id: IdSchema.optional(),
  directive_id: IdSchema.optional(),
  declaration_digest: IdSchema.optional(),
}));

const CallSchema = object(() => ({
  tool_id: ToolIdSchema,
  input: JsonValueSchema,
  options: CallOptionsSchema.optional(),
}));

/** The requests of a core's client. Before `core.hello` each other one is refused with -32001. */
export const coreApiMethods = {
  "core.hello": {
    params: object(() => ({
      token: z.string().min(1).max(512),
      client: z.object({ name: z.string().max(200), version: z.string().max(100).optional() }).optional(),
    })),
    result: object(() => ({
      core_version: z.string(),
      /** As whom the client's calls are made. */
      caller: CallerSchema,
      actor: ActorSchema.optional(),
    })),
  },
  "tools.list": {
    params: z.object({}).optional(),
    result: object(() => ({ tools: z.array(RemoteToolSchema) })),
  },
  /** How a call would be refused now. */
  "tools.check": {
    params: CallSchema,
    result: object(() => ({ refused: RemoteCallResultSchema.optional() })),
  },
  /** Calls a tool; its answer comes when the call has ended, after each `tools.stream` of it. */
  "tools.call": {
    params: object(() => ({ ...CallSchema.shape, call: IdSchema })),
    result: RemoteCallResultSchema,
  },
} as const satisfies MethodTable;

/** The notifications, from client to core (`tools.cancel`) and from core to client. */
export const coreApiNotifications = {
  "tools.cancel": object(() => ({ call: IdSchema, reason: z.string().max(1024).optional() })),
  "tools.stream": object(() => ({
    call: IdSchema,
    chunk: z.object({
      seq: z.int().nonnegative(),
      channel: z.enum(["stdout", "stderr", "log", "status", "partial_result"]),
      data: z.union([z.object({ text: z.string() }), z.object({ json: JsonObjectSchema })]),
      done: z.literal(true).exactOptional(),
      missing: z.int().positive().exactOptional(),
      dropped: z.int().positive().exactOptional(),
    }),
  })),
} as const;

/** The code of a request of a client that has not introduced itself with a valid token. */
export const CORE_API_UNAUTHORIZED = -32001;
