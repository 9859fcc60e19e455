import {
  type Capabilities,
  type CapabilityDenial,
  OPENHARNESS_VERSION,
  type ShellResponse,
} from "@harnesskit/protocol/openharness";
import { withJsonText } from "@harnesskit/wire";
import type { Payload } from "./payload.ts";

/** To whom a response goes. */
export interface Addressee {
  readonly requestId: string | undefined;
  readonly correlationId: string | undefined;
  readonly denials: CapabilityDenial[];
}

/** Makes responses of payloads, with what every one of them says of the engine. */
export class Responder {
  readonly #versions: string[];
  readonly #capabilities: Capabilities;
  /** That as JSON. */
  readonly #text: string;

  constructor(versions: string[], capabilities: Capabilities) {
    this.#versions = versions;
    this.#capabilities = capabilities;
    const facts = { supported_protocol_versions: versions, supported_capabilities: capabilities };
    this.#text = JSON.stringify(facts).slice(1, -1);
  }

  /** A response to be read, and to be changed as its reader likes. */
  respond(payload: Payload, to: Addressee): ShellResponse {
    const response: ShellResponse = { protocol_version: OPENHARNESS_VERSION, response: payload.value };
    if (to.requestId !== undefined) response.request_id = to.requestId;
    if (to.correlationId !== undefined) response.correlation_id = to.correlationId;
    response.supported_protocol_versions = this.#versions;
    response.supported_capabilities = this.#capabilities;
    response.capability_denials = to.denials;
    return response;
  }

  /** A response that is only sent: its text is with it where that is at hand. */
  respondToSend(payload: Payload, to: Addressee): ShellResponse {
    const response = this.respond(payload, to);
    return payload.hasText ? withJsonText(response, this.#toText(payload.text, to)) : response;
  }

  #toText(payload: string, { requestId, correlationId, denials }: Addressee): string {
    let text = `{"protocol_version":"${OPENHARNESS_VERSION}","response":${payload}`;
    if (requestId !== undefined) text += `,"request_id":${JSON.stringify(requestId)}`;
    if (correlationId !== undefined) text += `,"correlation_id":${JSON.stringify(correlationId)}`;
    const denied = denials.length === 0 ? "[]" : JSON.stringify(denials);
    return `${text},${this.#text},"capability_denials":${denied}}`;
  }
}
