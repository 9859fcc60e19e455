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
import { badRequest, idTooLong } from "./failure.ts";
import type { ShellEngineLimits } from "./limits.ts";
import { ShellEngineError } from "./shell-engine-error.ts";

/** The versions of messages that an engine supports. */
export const supportedVersions = Object.freeze([OPENHARNESS_VERSION]) as string[];
const supportedMajors = new Set(supportedVersions.map(majorOf));

/** A request that may be handled. */
export interface ReadRequest {
  readonly request: ShellRequest;
  /** The field of this project in the context's extensions. */
  readonly extension: RequestExtension | undefined;
}

/** An own field of a message that is not checked yet. */
const ownField = (message: unknown, name: string): unknown =>
  typeof message === "object" && message !== null && Object.hasOwn(message, name)
    ? (message as Record<string, unknown>)[name]
    : undefined;

/** An id that can be echoed, of any message, also of one that is refused. */
export const messageIdOf = (message: unknown, name: "request_id" | "correlation_id", maxLength: number) => {
  const id = ownField(message, name);
  return typeof id === "string" && id !== "" && id.length <= maxLength ? id : undefined;
};

/** Checks the version alone, because another one may mean other messages. */
const assertVersion = (message: unknown): void => {
  const version = ownField(message, "protocol_version");
  const major = typeof version === "string" ? majorOf(version) : undefined;
  if (major === undefined || supportedMajors.has(major)) return;
  throw new ShellEngineError(
    ShellErrorCode.ProtocolVersionUnsupported,
    "This engine does not support that version of the protocol.",
    { details: { supported_protocol_versions: supportedVersions } },
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
    throw badRequest("The request has too many attachments.", { reason: "too_many_attachments", path });
  }
  const index = inlineAttachment(attachments);
  if (index === undefined) return;
  throw badRequest("An attachment must be a reference: it holds large inline data.", {
    reason: "inline_attachment",
    path: `${path}.${index}`,
  });
};

/** Checks a message. Throws `protocol_version_unsupported` or `invalid_request`. */
export const readRequest = (message: unknown, limits: ShellEngineLimits): ReadRequest => {
  assertVersion(message);
  const parsed = parseShellRequest(message);
  if (!("data" in parsed)) {
    const { path } = parsed;
    throw badRequest("The message is not a valid OpenHarness request.", { reason: "schema", path });
  }
  const request = parsed.data;
  assertIds(request, limits.maxIdLength);
  assertAttachments(request, limits.maxAttachments);
  const extension = requestExtensionOf(request.request.context?.extensions);
  if (extension === "invalid") {
    const path = "request.context.extensions";
    throw badRequest("The extension dev.harnesskit is not valid.", { reason: "schema", path });
  }
  return { request, extension };
};
