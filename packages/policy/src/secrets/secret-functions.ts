import {
  findSecrets,
  isCertainSecret,
  isSecretKey,
  redactedPlaceholder,
  redactSecrets,
} from "@harnesskit/audit";
import type { PolicyFunction } from "../cel/policy-function.ts";
import { mapJson } from "../map-json.ts";
import { celToJson } from "../rules/cel-to-json.ts";

const isNamedSecret = (text: string, key: string | undefined): boolean =>
  key !== undefined && isSecretKey(key) && isCertainSecret(text);

const countSecrets = (value: unknown) => {
  const kinds = new Set<string>();
  let found = 0;
  mapJson(celToJson(value), (part, key) => {
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
  mapJson(celToJson(value), (part, key) => {
    if (typeof part !== "string") return undefined;
    const clean = redactSecrets(part, { certainOnly: true });
    return clean === part && isNamedSecret(part, key) ? redactedPlaceholder : clean;
  });

/**
 * Functions about secrets in events. `secrets(value)` counts the strings of any JSON that have the shape of a secret
 * (`found`, `kinds`); `redact(value)` is the value with `[redacted]` in their place. `loadPolicy` adds them to every policy.
 */
export const secretFunctions: readonly PolicyFunction[] = [
  { signature: "secrets(dyn): map", call: ([value]) => countSecrets(value) },
  { signature: "redact(dyn): dyn", call: ([value]) => redact(value) },
];
