import * as z from "zod";
import { tolerant } from "../null-as-absent.ts";
import { CapabilitiesSchema } from "./capabilities.ts";
import { ExtensionsSchema, ShellContextSchema } from "./context.ts";
import { openShape } from "./open-object.ts";
import { type Parsed, parseWith } from "./parsed.ts";
import { ProtocolVersionSchema } from "./version.ts";

/** Who asks, by reference (section 7). Other keys than these are the deployment's; a secret among them is never shown to anybody. */
export const ShellAuthSchema = openShape(() => ({
  tenant_id: z.string().optional(),
  credential_ref: z.string().optional(),
  session_id: z.string().optional(),
}));
export type ShellAuth = z.infer<typeof ShellAuthSchema>;

export const ShellRequestPayloadSchema = tolerant(() => ({
  auth: ShellAuthSchema.optional(),
  context: ShellContextSchema.optional(),
  extensions: ExtensionsSchema.optional(),
}));

/** What a shell sends (section 5.1). */
export const ShellRequestSchema = tolerant(() => ({
  protocol_version: ProtocolVersionSchema,
  /** The same for every attempt of one request; echoed. */
  request_id: z.string().min(1).optional(),
  /** For traces; echoed. */
  correlation_id: z.string().min(1).optional(),
  capabilities: CapabilitiesSchema.optional(),
  request: ShellRequestPayloadSchema,
}));
export type ShellRequest = z.infer<typeof ShellRequestSchema>;

/** Parses a message. Never throws for JSON. */
export const parseShellRequest = (message: unknown): Parsed<ShellRequest> =>
  parseWith(ShellRequestSchema, message);
