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

/** What an engine offers: true, or what the feature is. False, or a denial with reasons of one's own, is a feature that is known and not offered. */
export type OfferedCapabilities = Readonly<Record<string, JsonValue | { readonly denied: Denial }>>;

/** Why a feature is denied. */
export interface Denial {
  readonly code: string;
  readonly message?: string | undefined;
}

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

const isDenial = (value: unknown): value is { readonly denied: Denial } =>
  typeof value === "object" && value !== null && Object.hasOwn(value, "denied");

const toDenial = (capability: string, value: unknown): CapabilityDenial => {
  const { code = "not_supported", message = "This engine does not offer it." } = isDenial(value)
    ? value.denied
    : {};
  return { capability, code, message };
};

/** The engine's part of the negotiation (section 5.3). */
export class CapabilityOffer {
  /** What holds with a shell that asked for nothing, or of which it is not known what it asked for. */
  readonly nothingAsked: Negotiated;
  readonly offersStreaming: boolean;
  /** For `supported_capabilities`, as every shell gets it that does not stream. */
  readonly #supported: Capabilities = {};
  readonly #denied = new Map<string, CapabilityDenial>();

  /** Throws `invalid_argument` for a capability that is not JSON, and for streaming in another way than ours. */
  constructor(registry: ActionRegistry, own: OfferedCapabilities) {
    const { Streaming, AttachmentUpload, ParallelActions, RichCards, Approval } = ShellCapability;
    const offers: Record<string, unknown> = { [Streaming]: false, [AttachmentUpload]: false };
    for (const name of [ParallelActions, RichCards, Approval, ...registry.capabilities]) offers[name] = true;
    const { [Streaming]: streaming, ...others } = { ...offers, ...own };
    this.offersStreaming = streaming === true;
    for (const [name, value] of Object.entries(others)) {
      if (value === false || value === null || isDenial(value)) this.#denied.set(name, toDenial(name, value));
      else if (jsonProblem(value) === undefined) this.#supported[name] = value as JsonValue;
      else throw new InvalidArgumentError(`the capability ${name} must be JSON, or a denial`);
    }
    if (streaming === false || streaming === null || isDenial(streaming)) {
      this.#denied.set(Streaming, toDenial(Streaming, streaming));
    } else if (!this.offersStreaming) {
      throw new InvalidArgumentError(`capabilities: ${Streaming} must be true, or a denial`);
    }
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
      const denial = this.#denied.get(name);
      if (denial) denials.push(denial);
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
