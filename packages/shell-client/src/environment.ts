import type { JsonValue } from "@harnesskit/protocol/envelope";
import type { EnvironmentState, PrivacyTier } from "@harnesskit/protocol/openharness";
import { canonicalJson, InvalidArgumentError, randomId } from "@harnesskit/wire";

/** What leaves of a value: itself, its keyed hash, or nothing. */
export type EnvironmentRule = "raw" | "hash" | "omit";

/**
 * What of an environment_state leaves a shell, and how (section 8). A key that neither `tiers` nor `keys` names stays. Titles of
 * windows and contents of screens leave raw only if `keys` says so: those whose name has "window", "title" or "screen" in it.
 */
export interface EnvironmentPolicy {
  /** How sensitive each key's value is. @default restricted, for a key that `keys` names */
  readonly tiers?: Readonly<Record<string, PrivacyTier>>;
  /** The rule of a key, over that of its tier. @default public raw, restricted hash, secret omit */
  readonly keys?: Readonly<Record<string, EnvironmentRule>>;
  /**
   * The key of the hashes: with another one the same value has another hash. Not empty, and not known to the engine, which could try
   * values with it. @default a random one of each client, and so of each session
   */
  readonly hashKey?: string;
}

export interface FilteredEnvironment {
  /** With the tier of its most sensitive value as `privacy_tier`, hashed ones included. Undefined where nothing is left. */
  readonly state: EnvironmentState | undefined;
  /** Keys that stayed here. */
  readonly withheld: readonly string[];
}

/** The value of a key that an object has itself. */
const own = <T>(object: Readonly<Record<string, T>> | undefined, key: string): T | undefined =>
  object !== undefined && Object.hasOwn(object, key) ? object[key] : undefined;

const levels: Readonly<Record<PrivacyTier, number>> = { public: 0, restricted: 1, secret: 2 };
/** An unknown tier counts as the most sensitive. */
const levelOf = (tier: PrivacyTier): number => own(levels, tier) ?? levels.secret;
const higher = (one: PrivacyTier, other: PrivacyTier): PrivacyTier =>
  levelOf(one) >= levelOf(other) ? one : other;

const rules: Readonly<Record<string, EnvironmentRule>> = {
  public: "raw",
  restricted: "hash",
  secret: "omit",
};
const strictness: Readonly<Record<string, number>> = { raw: 0, hash: 1, omit: 2 };
/** An invalid rule lets nothing leave. */
const stricter = (one: EnvironmentRule, other: EnvironmentRule): EnvironmentRule =>
  (own(strictness, one) ?? 3) >= (own(strictness, other) ?? 3) ? one : other;

const showsScreen = (key: string): boolean => /window|title|screen/i.test(key);

/** The rule of a key, and how sensitive its value is. */
const ruleFor = (key: string, { tiers, keys }: EnvironmentPolicy, floor: PrivacyTier) => {
  const named = own(tiers, key);
  const given = own(keys, key);
  const tier = higher(named ?? "restricted", floor);
  if ((named === undefined && given === undefined) || key === "__proto__") return { tier, rule: "omit" };
  const ofTier = own(rules, tier) ?? "omit";
  // The rule of a key was made for the tier that the policy gives it.
  const isRaised = levelOf(tier) > levelOf(named ?? "restricted");
  if (given !== undefined) return { tier, rule: isRaised ? stricter(given, ofTier) : given };
  return { tier, rule: showsScreen(key) ? stricter(ofTier, "hash") : ofTier };
};

/**
 * The hash of a JSON value: `hmac-sha256:` and 64 hex digits, the HMAC-SHA-256 (RFC 2104) of its canonical JSON under the key's
 * UTF-8. Without the key, values cannot be tried. Rejects with `invalid_argument` for a value that is not JSON, and for an empty key. A page
 * needs a secure context (https, or localhost) for it.
 */
export const hashValue = async (value: JsonValue, key: string): Promise<string> => {
  if (key === "") throw new InvalidArgumentError("hashKey must not be empty");
  const encoder = new TextEncoder();
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const text = encoder.encode(canonicalJson(value));
  const secret = await crypto.subtle.importKey("raw", encoder.encode(key), algorithm, false, ["sign"]);
  let hex = "";
  for (const byte of new Uint8Array(await crypto.subtle.sign("HMAC", secret, text))) {
    hex += byte.toString(16).padStart(2, "0");
  }
  return `hmac-sha256:${hex}`;
};

/** A policy whose hashes can be compared with each other: those of one client. */
export const withHashKey = (
  policy: EnvironmentPolicy = {},
): EnvironmentPolicy & { readonly hashKey: string } => ({
  ...policy,
  hashKey: policy.hashKey ?? randomId("key"),
});

/**
 * Takes out of a state what the policy does not let leave, hashes what may leave as a hash, and classifies the rest. A `privacy_tier` of
 * the state itself can make it more sensitive and never less. Only top-level keys are looked at. Without a `hashKey` each call hashes
 * with another one. Rejects with `invalid_argument` for a value to hash that is not JSON.
 */
export const filterEnvironment = async (
  given: EnvironmentState,
  policy: EnvironmentPolicy = {},
): Promise<FilteredEnvironment> => {
  const { hashKey } = withHashKey(policy);
  const { privacy_tier: floor = "public", ...values } = given;
  const state: Record<string, JsonValue> = {};
  const withheld: string[] = [];
  let tier: PrivacyTier = floor;
  for (const [key, value] of Object.entries(values)) {
    if (value === undefined) continue;
    const judged = ruleFor(key, policy, floor);
    if (judged.rule === "raw") state[key] = value;
    else if (judged.rule === "hash") state[key] = await hashValue(value, hashKey);
    else {
      withheld.push(key);
      continue;
    }
    tier = higher(tier, judged.tier);
  }
  if (Object.keys(state).length === 0) return { state: undefined, withheld };
  return { state: { ...state, privacy_tier: tier }, withheld };
};
