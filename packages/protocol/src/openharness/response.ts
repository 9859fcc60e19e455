import * as z from "zod";
import { tolerant } from "../null-as-absent.ts";
import { CapabilitiesSchema, CapabilityDenialSchema } from "./capabilities.ts";
import { ActionDirectiveSchema } from "./directive.ts";
import { OpenValueSchema, openObject } from "./open-object.ts";
import { ProtocolVersionSchema } from "./version.ts";

/** Why a request failed (section 13). */
export const ShellErrorSchema = tolerant(() => ({
  code: z.string().min(1),
  /** For people. Neither a secret nor personal data is in it. */
  message: z.string().optional(),
  /** True: the same request may be sent again, later. */
  retryable: z.boolean().optional(),
  /** Safe for logs. */
  details: openObject().optional(),
}));
export type ShellError = z.infer<typeof ShellErrorSchema>;

/** What came of a request. The schema of the protocol knows no `extensions` here, and so any value of it is let pass. */
export const ShellResponsePayloadSchema = tolerant(() => ({
  status: z.enum(["success", "error"]),
  /** How long the engine took, in milliseconds; a hint. */
  engine_latency_ms: z.number().nonnegative().optional(),
  action_directives: z.array(ActionDirectiveSchema).optional(),
  error: ShellErrorSchema.optional(),
  extensions: OpenValueSchema.optional(),
}));
export type ShellResponsePayload = z.infer<typeof ShellResponsePayloadSchema>;

/** What an engine answers (section 5.2). */
export const ShellResponseSchema = tolerant(() => ({
  protocol_version: ProtocolVersionSchema,
  request_id: z.string().min(1).optional(),
  correlation_id: z.string().min(1).optional(),
  supported_protocol_versions: z.array(ProtocolVersionSchema).optional(),
  supported_capabilities: CapabilitiesSchema.optional(),
  capability_denials: z.array(CapabilityDenialSchema).optional(),
  response: ShellResponsePayloadSchema,
}));
export type ShellResponse = z.infer<typeof ShellResponseSchema>;
