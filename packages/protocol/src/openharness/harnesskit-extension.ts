import * as z from "zod";
import { tolerant } from "../null-as-absent.ts";
import { ContinuationSchema } from "./context.ts";
import type { ActionDirective } from "./directive.ts";
import { ownField } from "./parsed.ts";

/** The key that this project's own fields have in `extensions`. */
export const HARNESSKIT_EXTENSION = "dev.harnesskit";

/** What a user said to a `request_approval`. */
export const ShellApprovalAnswerSchema = tolerant(() => ({
  decision: z.enum(["approved", "refused"]),
  /** What was said yes or no to: the digest of what `approvalSubject` gives. */
  digest: z.string().optional(),
  /** In the user's words. */
  reason: z.string().optional(),
}));
export type ShellApprovalAnswer = z.infer<typeof ShellApprovalAnswerSchema>;

/** `request.context.extensions["dev.harnesskit"]`: what a shell says beyond the protocol. */
export const RequestExtensionSchema = tolerant(() => ({
  approval: ShellApprovalAnswerSchema.optional(),
  /** Where the request belongs in a trace: W3C Trace Context. One that is malformed is ignored. */
  traceparent: z.unknown().optional(),
  tracestate: z.unknown().optional(),
}));
export type RequestExtension = z.infer<typeof RequestExtensionSchema>;

/** `response.extensions["dev.harnesskit"]`: what an engine says beyond the protocol. */
export const ResponseExtensionSchema = tolerant(() => ({
  /** Where the conversation is, also where the shell named none. */
  session_id: z.string().optional(),
  conversation_id: z.string().optional(),
  /** What the next request of this conversation shows, once, to go on from here. */
  continuation: ContinuationSchema.optional(),
}));
export type ResponseExtension = z.infer<typeof ResponseExtensionSchema>;

const ownOf = (extensions: unknown): unknown => ownField(extensions, HARNESSKIT_EXTENSION);

/** The field of this project in a request's `context.extensions`. Undefined if absent, `invalid` if malformed. */
export const requestExtensionOf = (extensions: unknown): RequestExtension | "invalid" | undefined => {
  const own = ownOf(extensions);
  if (own === undefined) return undefined;
  return RequestExtensionSchema.safeParse(own).data ?? "invalid";
};

/** The field of this project in a response's `extensions`. Undefined if absent or malformed. */
export const responseExtensionOf = (extensions: unknown): ResponseExtension | undefined =>
  ResponseExtensionSchema.safeParse(ownOf(extensions)).data;

/**
 * What an answer to a `request_approval` is bound to: the directive without the continuation, which differs each time. The
 * digest of its canonical JSON goes into {@link ShellApprovalAnswer}.
 */
export const approvalSubject = (directive: ActionDirective): ActionDirective => {
  const { payload, ...rest } = directive;
  if (payload === undefined) return rest;
  const { continuation: _continuation, ...shown } = payload;
  return { ...rest, payload: shown };
};
