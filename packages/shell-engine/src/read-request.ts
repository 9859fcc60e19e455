import {
  inlineAttachment,
  majorOf,
  OPENHARNESS_VERSION,
  parseShellRequest,
  type RequestExtension,
  requestExtensionOf,
  ShellErrorCode,
  type ShellRequest,
} from "@harnesskit/protocol/openharness";
import { idTooLong, invalidRequest } from "./failure.ts";
import type { ResolvedLimits } from "./limits.ts";
import { assertMeasure } from "./measure.ts";
import { ShellEngineError } from "./shell-engine-error.ts";

/** The versions of messages that an engine speaks. */
export const supportedVersions = Object.freeze([OPENHARNESS_VERSION]) as string[];
const supportedMajors = new Set(supportedVersions.map(majorOf));

/** A request that may be handled. */
export interface ReadRequest {
  readonly request: ShellRequest;
  /** The field of this project in the context's extensions. */
  readonly extension: RequestExtension | undefined;
}

/** A field of a message that is none yet; what it inherits is no field. */
const fieldOf = (message: unknown, name: string): unknown =>
  typeof message === "object" && message !== null && Object.hasOwn(message, name)
    ? (message as Record<string, unknown>)[name]
    : undefined;

/** An id that can be echoed, of any message, one that is refused among them. */
export const idOf = (message: unknown, name: "request_id" | "correlation_id", maxLength: number) => {
  const id = fieldOf(message, name);
  return typeof id === "string" && id !== "" && id.length <= maxLength ? id : undefined;
};

/** Looks at the version alone, because another one may mean other messages. */
const assertVersion = (message: unknown): void => {
  const version = fieldOf(message, "protocol_version");
  const major = typeof version === "string" ? majorOf(version) : undefined;
  if (major === undefined || supportedMajors.has(major)) return;
  throw new ShellEngineError(
    ShellErrorCode.ProtocolVersionUnsupported,
    "This engine does not speak that version of the protocol.",
    { details: { supported_protocol_versions: [...supportedVersions] } },
  );
};

const assertIds = ({ request_id, correlation_id, request }: ShellRequest, maxIdLength: number): void => {
  const { session_id, conversation_id, task_hint, continuation, shell } = request.context ?? {};
  const check = (path: string, id: string | undefined): void => {
    if (id !== undefined && id.length > maxIdLength) throw idTooLong(path);
  };
  check("request_id", request_id);
  check("correlation_id", correlation_id);
  check("session_id", session_id);
  check("conversation_id", conversation_id);
  check("run_id", continuation?.run_id);
  check("sop_id", task_hint?.sop_id);
  check("plugin_id", task_hint?.plugin_id);
  check("business_key", task_hint?.business_key);
  check("shell_kind", shell?.shell_kind);
};

const assertAttachments = ({ request }: ShellRequest, maxAttachments: number): void => {
  const attachments = request.context?.attachments;
  if (attachments === undefined) return;
  const path = "request.context.attachments";
  if (attachments.length > maxAttachments) {
    throw invalidRequest("The request has too many attachments.", { reason: "too_many_attachments", path });
  }
  const index = inlineAttachment(attachments);
  if (index === undefined) return;
  throw invalidRequest("An attachment must be a reference: it holds large inline data.", {
    reason: "inline_attachment",
    path: `${path}.${index}`,
  });
};

/**
 * A request with levels of its own: whoever sent it may change their message for the next one while this one waits. Values
 * that belong to the shell stay as they are.
 */
const ownRequest = (request: ShellRequest): ShellRequest => {
  const { context } = request.request;
  if (context === undefined) return { ...request, request: { ...request.request } };
  const own = { ...context };
  if (context.shell) own.shell = { ...context.shell };
  if (context.attachments) own.attachments = [...context.attachments];
  return { ...request, request: { ...request.request, context: own } };
};

/** Checks a message. Throws `protocol_version_unsupported` or `invalid_request`. */
export const readRequest = (message: unknown, limits: ResolvedLimits): ReadRequest => {
  assertMeasure(message, limits);
  assertVersion(message);
  const parsed = parseShellRequest(message);
  if (!("data" in parsed)) {
    const { path } = parsed;
    throw invalidRequest("The message is no request of OpenHarness.", { reason: "schema", path });
  }
  const request = ownRequest(parsed.data);
  assertIds(request, limits.maxIdLength);
  assertAttachments(request, limits.maxAttachments);
  const extension = requestExtensionOf(request.request.context?.extensions);
  if (extension === "invalid") {
    const path = "request.context.extensions";
    throw invalidRequest("The field dev.harnesskit is none of these.", { reason: "schema", path });
  }
  return { request, extension };
};
