import type { JsonValue } from "@harnesskit/protocol/envelope";
import {
  type ActionRegistry,
  agreesOnStreaming,
  type Capabilities,
  type CapabilityDenial,
  hasCapability,
  ShellCapability,
  STREAMING_PROFILE,
  STREAMING_VERSION,
  streamingCapability,
} from "@harnesskit/protocol/openharness";
import { InvalidArgumentError } from "@harnesskit/wire";
import { jsonProblem } from "@harnesskit/wire/json";

/** What an engine offers: true, or what the feature is. False is a feature that is known and not offered. */
export type OfferedCapabilities = Readonly<Record<string, JsonValue>>;

/** What holds between an engine and one shell. */
export interface Negotiated {
  /** What the shell has and the engine offers. */
  readonly held: ReadonlySet<string>;
  readonly denials: readonly CapabilityDenial[];
  /** For `supported_capabilities`. */
  readonly supported: Capabilities;
}

/** A shell that streams in another way, or does not say how. */
const otherProfile: CapabilityDenial = {
  capability: ShellCapability.Streaming,
  code: "profile_unsupported",
  message: `This engine streams with the profile ${STREAMING_PROFILE} in version ${STREAMING_VERSION}.`,
};

const notOffered = (capability: string): CapabilityDenial => ({
  capability,
  code: "not_supported",
  message: "This engine does not offer it.",
});

/** The engine's part of the negotiation (section 5.3). */
export class CapabilityOffer {
  /** What holds with a shell that asked for nothing, or of which it is not known what it asked for. */
  readonly nothingAsked: Negotiated;
  readonly offersStreaming: boolean;
  /** For `supported_capabilities`, as every shell gets it that does not stream. */
  readonly #supported: Capabilities = {};
  readonly #denied = new Set<string>();

  /** Throws `invalid_argument` for a capability that is not JSON, and for streaming in another way than ours. */
  constructor(registry: ActionRegistry, own: OfferedCapabilities) {
    const { Streaming, AttachmentUpload, ParallelActions, RichCards, Approval } = ShellCapability;
    const offers: Record<string, unknown> = { [Streaming]: false, [AttachmentUpload]: false };
    for (const name of [ParallelActions, RichCards, Approval, ...registry.capabilities]) offers[name] = true;
    const { [Streaming]: streaming, ...others } = { ...offers, ...own };
    this.offersStreaming = streaming === true;
    if (!this.offersStreaming && streaming !== false && streaming !== null) {
      throw new InvalidArgumentError(`capabilities: ${Streaming} must be true or false`);
    }
    for (const [name, value] of Object.entries(others)) {
      if (value === false || value === null) this.#denied.add(name);
      else if (jsonProblem(value) === undefined) this.#supported[name] = value as JsonValue;
      else throw new InvalidArgumentError(`the capability ${name} must be JSON`);
    }
    if (!this.offersStreaming) this.#denied.add(Streaming);
    this.nothingAsked = { held: new Set(), denials: [], supported: this.#supported };
  }

  /** What the shell gets of what it asked for. Unknown keys are ignored. */
  negotiate(asked: Capabilities | undefined): Negotiated {
    const held = new Set<string>();
    if (asked === undefined) return { ...this.nothingAsked, held };
    const denials: CapabilityDenial[] = [];
    let supported = this.#supported;
    for (const name of Object.keys(asked)) {
      if (!hasCapability(asked, name)) continue;
      if (this.#denied.has(name)) denials.push(notOffered(name));
      else if (Object.hasOwn(this.#supported, name)) held.add(name);
      else if (name === ShellCapability.Streaming && this.offersStreaming) {
        // A shell that does not get it gets what it would get from an engine without it.
        if (agreesOnStreaming(asked)) {
          held.add(name);
          supported = { ...supported, [name]: streamingCapability };
        } else denials.push(otherProfile);
      }
    }
    return { held, denials, supported };
  }
}

/** Those of the negotiation, and those of the directives that are not among them. */
export const allDenials = (
  negotiated: readonly CapabilityDenial[],
  needed: readonly CapabilityDenial[],
): CapabilityDenial[] => {
  if (needed.length === 0) return [...negotiated];
  const known = new Set(negotiated.map(({ capability }) => capability));
  return [...negotiated, ...needed.filter(({ capability }) => !known.has(capability))];
};
