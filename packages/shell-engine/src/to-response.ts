import { OPENHARNESS_VERSION, type ShellResponse } from "@harnesskit/protocol/openharness";
import { allDenials, type Negotiated } from "./capability-offer.ts";
import type { EngineRequest } from "./engine-request.ts";
import { supportedVersions } from "./read-request.ts";
import type { Payload } from "./to-payload.ts";

/** What a response takes from its request. */
export type Echoed = Partial<Pick<EngineRequest<unknown>, "correlationId" | "requestId">>;

/** The message with this content. */
export const toResponse = (
  { value, denials }: Pick<Payload, "denials" | "value">,
  { requestId, correlationId }: Echoed,
  negotiated: Negotiated,
): ShellResponse => {
  const response: ShellResponse = { protocol_version: OPENHARNESS_VERSION, response: value };
  if (requestId !== undefined) response.request_id = requestId;
  if (correlationId !== undefined) response.correlation_id = correlationId;
  response.supported_protocol_versions = supportedVersions;
  response.supported_capabilities = negotiated.supported;
  response.capability_denials = allDenials(negotiated.denials, denials);
  return response;
};
