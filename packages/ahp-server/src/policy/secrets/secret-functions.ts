import {
  findSecrets,
  isCertainSecret,
  isSecretKey,
  redactedPlaceholder,
  redactSecrets,
} from "@harnesskit/audit";
import type { PolicyFunction } from "../cel/policy-function.ts";
import { mapJson } from "../map-json.ts";
import { toJson } from "../rules/to-json.ts";

const isNamedSecret = (text: string, key: string | undefined): boolean =>
  key !== undefined && isSecretKey(key) && isCertainSecret(text);

const find = (value: unknown) => {
  const kinds = new Set<string>();
  let found = 0;
  mapJson(toJson(value), (part, key) => {
    if (typeof part !== "string") return undefined;
    const secrets = findSecrets(part).filter(({ certain }) => certain);
    found += secrets.length;
    for (const { kind } of secrets) kinds.add(kind);
    if (secrets.length === 0 && isNamedSecret(part, key)) {
      found++;
      kinds.add("assignment");
    }
    return part;
  });
  return { found, kinds: [...kinds] };
};

const redact = (value: unknown): unknown =>
  mapJson(toJson(value), (part, key) => {
    if (typeof part !== "string") return undefined;
    const clean = redactSecrets(part, { certainOnly: true });
    return clean === part && isNamedSecret(part, key) ? redactedPlaceholder : clean;
  });

/** `secrets(dyn): map`: how many strings of a value are, by their shape, secrets, and of which kinds. */
const secretsFunction: PolicyFunction = {
  signature: "secrets(dyn): map",
  call: ([value]) => find(value),
};

/** `redact(dyn): dyn`: the value with `[redacted]` in the place of each of these secrets. */
const redactFunction: PolicyFunction = {
  signature: "redact(dyn): dyn",
  call: ([value]) => redact(value),
};

/**
 * Functions about secrets in events: `secrets(value)` counts what has the shape of a secret in any JSON (`found`, `kinds`),
 * `redact(value)` is the value without them. `loadPolicy` gives them to every policy.
 */
export const secretFunctions: readonly PolicyFunction[] = [secretsFunction, redactFunction];
