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
  readonly tiers?: Readonly<Record<string, PrivacyTier>> | undefined;
  /** The rule of a key, over that of its tier. @default public raw, restricted hash, secret omit */
  readonly keys?: Readonly<Record<string, EnvironmentRule>> | undefined;
  /**
   * The key of the hashes: with another one the same value has another hash. Not empty, and not known to the engine, which could try
   * values with it. @default a random one of each client, and so of each session
   */
  readonly hashKey?: string | undefined;
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

/** In both lists the later one is the stricter: by default a tier has the rule of its place. One that is in neither counts as the last. */
const tierOrder: readonly string[] = ["public", "restricted", "secret"] satisfies PrivacyTier[];
const ruleOrder: readonly string[] = ["raw", "hash", "omit"] satisfies EnvironmentRule[];
const placeIn = (order: readonly string[], name: string): number => {
  const place = order.indexOf(name);
  return place < 0 ? order.length - 1 : place;
};

const showsScreen = (key: string): boolean => /window|title|screen/i.test(key);

/** The rule of a key, and how sensitive its value is. */
const judge = (key: string, { tiers, keys }: EnvironmentPolicy, floor: PrivacyTier) => {
  const named = own(tiers, key);
  const given = own(keys, key);
  const ownTier = placeIn(tierOrder, named ?? "restricted");
  const tier = Math.max(ownTier, placeIn(tierOrder, floor));
  if ((named === undefined && given === undefined) || key === "__proto__") return { tier, rule: "omit" };
  const ofTier = given === undefined && showsScreen(key) ? Math.max(tier, 1) : tier;
  const ofKey = given === undefined ? 0 : placeIn(ruleOrder, given);
  // The rule of a key was made for the tier that the policy gives it.
  const counts = given !== undefined && tier === ownTier ? ofKey : Math.max(ofKey, ofTier);
  return { tier, rule: ruleOrder[counts] };
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
  let tier = placeIn(tierOrder, floor);
  for (const [key, value] of Object.entries(values)) {
    if (value === undefined) continue;
    const judged = judge(key, policy, floor);
    if (judged.rule === "omit") withheld.push(key);
    else {
      state[key] = judged.rule === "raw" ? value : await hashValue(value, hashKey);
      tier = Math.max(tier, judged.tier);
    }
  }
  if (Object.keys(state).length === 0) return { state: undefined, withheld };
  return { state: { ...state, privacy_tier: tierOrder[tier] as PrivacyTier }, withheld };
};
