import * as z from "zod";
import { JsonObjectSchema } from "../envelope/json.ts";
import { object } from "../fields.ts";
import { tolerant } from "../null-as-absent.ts";
import { messageSchema, RuntimeErrorSchema } from "./envelope.ts";

/** A tool's name without its agent. It has no slash: a tool's id has exactly one. */
export const ToolNameSchema = z.string().regex(/^[A-Za-z0-9_][A-Za-z0-9_.:-]{0,127}$/);

/** `<agent_id>/<name>` (section 4.2). */
export const ToolIdSchema = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}\/[A-Za-z0-9_][A-Za-z0-9_.:-]{0,127}$/);

/** A tool as its agent declares it (section 4.2.1). */
export const ToolDeclarationSchema = object(() => ({
  tool_id: ToolIdSchema,
  name: ToolNameSchema,
  description: z.string(),
  /** JSON Schema of the input. */
  input_schema: JsonObjectSchema,
  /** JSON Schema of the output. */
  output_schema: JsonObjectSchema.optional(),
  /** Such as `streaming` and `cancellation`. */
  capabilities: z.array(z.string().max(128)).max(64).optional(),
  /** The tool changes something outside itself. Left out: unknown. */
  side_effects: z.boolean().optional(),
  /** The tool may run only when a directive asks for it. */
  requires_directive: z.boolean().optional(),
  /**
   * What of the manifest's `permissions` this tool needs; not in the specification. Left out: all of them.
   */
  permissions: z.array(z.string().min(1).max(256)).max(64).optional(),
  /** For grouping in a user interface. */
  tags: z.array(z.string().max(128)).max(64).optional(),
}));
export type ToolDeclaration = z.infer<typeof ToolDeclarationSchema>;

/**
 * The agent declares tools (section 4.2.1). Each entry of `tools` is a {@link ToolDeclaration}; it is judged on its own,
 * so that a wrong one is rejected and the others hold.
 */
export const AgentToolsRegisterSchema = messageSchema(
  "agent.tools.register",
  tolerant(() => ({
    tools: z.array(JsonObjectSchema),
    /** Forget what this session registered before. @default false */
    replace: z.boolean().optional(),
    /**
     * Further tools follow at once: the agent is ready with the registration that has no `more`; not in the specification.
     * @default false
     */
    more: z.boolean().optional(),
  })),
);
export type AgentToolsRegister = z.infer<typeof AgentToolsRegisterSchema>;

/** Which tools the core took, and why not the others (section 4.2.2). */
export const CoreToolsRegisteredSchema = messageSchema(
  "core.tools.registered",
  tolerant(() => ({
    registered: z.array(z.string()),
    rejected: z.array(z.object({ tool_id: z.string(), error: RuntimeErrorSchema })).optional(),
  })),
);
export type CoreToolsRegistered = z.infer<typeof CoreToolsRegisteredSchema>;

/** The agent takes tools back (section 4.2.3). */
export const AgentToolsUnregisterSchema = messageSchema(
  "agent.tools.unregister",
  tolerant(() => ({ tool_ids: z.array(z.string()) })),
);

/**
 * The tools are gone (section 4.2.3). The specification gives it no fields; a core that lists `tool_ids` leaves out
 * those that were not registered.
 */
export const CoreToolsUnregisteredSchema = messageSchema(
  "core.tools.unregistered",
  tolerant(() => ({ tool_ids: z.array(z.string()).optional() })),
);
