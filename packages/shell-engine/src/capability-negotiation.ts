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
import { copyJson } from "@harnesskit/wire/json";

/** What an engine offers: true, or what the feature is. False, or a denial with reasons of one's own, is a feature that is known and not offered. */
export type OfferedCapabilities = Readonly<Record<string, JsonValue | { readonly denied: Denial }>>;

/** Why a feature is denied. */
export interface Denial {
  readonly code: string;
  readonly message?: string;
}

/** What holds between an engine and one shell. */
export interface Negotiated {
  /** What the shell has and the engine offers. */
  readonly held: ReadonlySet<string>;
  readonly denials: CapabilityDenial[];
  /** For `supported_capabilities`. */
  readonly supported: Capabilities;
}

/** The denials of a shell that asked for nothing, or of which it is not known what it asked for. */
export const noDenials = Object.freeze([]) as unknown as CapabilityDenial[];

/** A shell that streams in another way, or does not say how. */
const otherProfile: CapabilityDenial = Object.freeze({
  capability: ShellCapability.Streaming,
  code: "profile_unsupported",
  message: `This engine streams with the profile ${STREAMING_PROFILE} in version ${STREAMING_VERSION}.`,
});

const isDenial = (value: unknown): value is { readonly denied: Denial } =>
  typeof value === "object" && value !== null && Object.hasOwn(value, "denied");

/** The engine's part of the negotiation (section 5.3). */
export class CapabilityOffer {
  /** For `supported_capabilities`, as every shell gets it. */
  readonly supported: Capabilities;
  /** As a shell gets it that asks for streaming; the same where that is not offered. */
  readonly #supportedWithStreaming: Capabilities;
  readonly #offered = new Set<string>();
  readonly #denied = new Map<string, CapabilityDenial>();

  constructor(registry: ActionRegistry, own: OfferedCapabilities) {
    const offers = new Map<string, unknown>([
      [ShellCapability.Streaming, false],
      [ShellCapability.AttachmentUpload, false],
      [ShellCapability.ParallelActions, true],
      [ShellCapability.RichCards, true],
      [ShellCapability.Approval, true],
      ...[...registry.capabilities].map((name): [string, unknown] => [name, true]),
      ...Object.entries(own),
    ]);
    const supported: Capabilities = {};
    for (const [name, value] of offers) {
      if (value === false || value === null || isDenial(value)) this.#denied.set(name, denialOf(name, value));
      else if (name === ShellCapability.Streaming) {
        if (value !== true) throw new InvalidArgumentError(`capabilities: ${name} must be true, or a denial`);
        this.#offered.add(name);
      } else {
        this.#offered.add(name);
        supported[name] = jsonOf(name, value);
      }
    }
    this.supported = Object.freeze(supported);
    this.#supportedWithStreaming = this.offersStreaming
      ? Object.freeze({ ...supported, [ShellCapability.Streaming]: streamingCapability })
      : this.supported;
  }

  get offersStreaming(): boolean {
    return this.#offered.has(ShellCapability.Streaming);
  }

  /** What the shell gets of what it asked for. Unknown keys are ignored. */
  negotiate(asked: Capabilities | undefined): Negotiated {
    const held = new Set<string>();
    if (asked === undefined) return { held, denials: noDenials, supported: this.supported };
    const denials: CapabilityDenial[] = [];
    let { supported } = this;
    for (const name of Object.keys(asked)) {
      if (!hasCapability(asked, name)) continue;
      const isOffered = this.#offered.has(name);
      if (isOffered && name === ShellCapability.Streaming) {
        // A shell that does not get it gets what it would get from an engine without it.
        if (agreesOnStreaming(asked)) {
          supported = this.#supportedWithStreaming;
          held.add(name);
        } else denials.push(otherProfile);
      } else if (isOffered) held.add(name);
      const denial = this.#denied.get(name);
      if (denial) denials.push(denial);
    }
    return { held, denials, supported };
  }
}

/** A copy, so that what is offered does not change. */
const jsonOf = (name: string, value: unknown): JsonValue => {
  try {
    return copyJson(value);
  } catch (cause) {
    throw new InvalidArgumentError(`the capability ${name} must be JSON, or a denial`, { cause });
  }
};

const denialOf = (capability: string, value: unknown): CapabilityDenial => {
  const { code = "not_supported", message = "This engine does not offer it." } = isDenial(value)
    ? value.denied
    : {};
  return Object.freeze({ capability, code, message });
};

/** Those of the negotiation, and those of the directives that are not among them. */
export const allDenials = (
  negotiated: CapabilityDenial[],
  needed: readonly CapabilityDenial[],
): CapabilityDenial[] => {
  if (needed.length === 0) return negotiated;
  const known = new Set(negotiated.map(({ capability }) => capability));
  return [...negotiated, ...needed.filter(({ capability }) => !known.has(capability))];
};
