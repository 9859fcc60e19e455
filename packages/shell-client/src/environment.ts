import type { JsonValue } from "@harnesskit/protocol/envelope";
import type { EnvironmentState, PrivacyTier } from "@harnesskit/protocol/openharness";
import { digest } from "@harnesskit/wire";

/** What of an environment_state leaves a shell, and how (section 8). */
export interface EnvironmentPolicy {
  /** How sensitive each key's value is. @default restricted, for a key that `allow` names */
  readonly tiers?: Readonly<Record<string, PrivacyTier>>;
  /** The keys that may leave. @default those that `tiers` names */
  readonly allow?: readonly string[];
  /** The most sensitive tier that leaves. @default "restricted" */
  readonly maxTier?: PrivacyTier;
  /** Keys whose values leave as their hash. That does not make them less sensitive: what can be guessed can be hashed and compared. @default none */
  readonly hash?: readonly string[];
  /** Mixed into the hashes, so that nobody without it can compare them with guesses. @default nothing */
  readonly hashKey?: string;
}

export interface FilteredEnvironment {
  /** With the tier of its most sensitive value as `privacy_tier`. Undefined where nothing is left. */
  readonly state: EnvironmentState | undefined;
  /** Keys that stayed here. */
  readonly withheld: readonly string[];
}

/** The value of a key that an object has itself. */
const own = <T>(object: Readonly<Record<string, T>> | undefined, key: string): T | undefined =>
  object !== undefined && Object.hasOwn(object, key) ? object[key] : undefined;

const levels: Readonly<Record<PrivacyTier, number>> = { public: 0, restricted: 1, secret: 2 };
/** What is no tier is as sensitive as can be. */
const levelOf = (tier: PrivacyTier): number => own(levels, tier) ?? levels.secret;
const higher = (one: PrivacyTier, other: PrivacyTier): PrivacyTier =>
  levelOf(one) >= levelOf(other) ? one : other;

/**
 * The hash of a JSON value: `sha256:` and 64 hex digits of its canonical JSON, with a key of its key and value. Rejects with
 * `invalid_argument` for what is no JSON. A page needs a secure context (https, or localhost) for it.
 */
export const hashValue = (value: JsonValue, key?: string): Promise<string> =>
  digest(key === undefined ? value : { key, value });

/**
 * Takes out of a state what the policy does not let leave, and classifies the rest. A `privacy_tier` of the state itself can
 * make it more sensitive and never less. Only top-level keys are looked at. Rejects with `invalid_argument` for a value to
 * hash that is no JSON.
 */
export const filterEnvironment = async (
  given: EnvironmentState,
  policy: EnvironmentPolicy = {},
): Promise<FilteredEnvironment> => {
  const { tiers, maxTier = "restricted", hashKey } = policy;
  const allowed = new Set(policy.allow ?? Object.keys(tiers ?? {}));
  const maxLevel = own(levels, maxTier) ?? -1;
  const hashed = new Set(policy.hash);
  const { privacy_tier: floor = "public", ...values } = given;
  const state: Record<string, JsonValue> = {};
  const withheld: string[] = [];
  let tier: PrivacyTier = floor;
  for (const [key, value] of Object.entries(values)) {
    if (value === undefined) continue;
    const keyTier = higher(own(tiers, key) ?? "restricted", floor);
    if (!allowed.has(key) || levelOf(keyTier) > maxLevel || key === "__proto__") {
      withheld.push(key);
      continue;
    }
    state[key] = hashed.has(key) ? await hashValue(value, hashKey) : value;
    tier = higher(tier, keyTier);
  }
  if (Object.keys(state).length === 0) return { state: undefined, withheld };
  return { state: { ...state, privacy_tier: tier }, withheld };
};
