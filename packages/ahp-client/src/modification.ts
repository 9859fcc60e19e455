import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { describeDifference, type JsonDifference, jsonDifference } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";

/** The field of an event's payload that a harness can change: of a call its arguments, of a prompt the prompt. */
export type ChangeableField = "arguments" | "prompt";

/** A change that can be applied as far as its payload goes, or the first part of it that cannot. */
export type Modification = { readonly wanted: JsonValue } | { readonly leftover: JsonDifference };

const maxNameLength = 200;

/**
 * The first part of a `modified_payload` that `applied`, the payload as it would be carried out, leaves over; undefined
 * where all of the change is applied. Fields that the change does not have stay as they are, and null stands for
 * a field that there is not; each field that it has must be the same JSON, with nothing left out, added or converted.
 */
export const leftoverOf = (modified: JsonValue, applied: JsonObject): JsonDifference | undefined => {
  if (!isObject(modified)) return { path: "", kind: "changed" };
  for (const [key, wanted] of Object.entries(modified)) {
    if (Object.hasOwn(applied, key)) {
      const found = jsonDifference(wanted, applied[key], key);
      if (found) return found;
    } else if (wanted !== null) return { path: key, kind: "missing" };
  }
  return undefined;
};

/**
 * Reads a `modified_payload`: the value that it wants for `field`, where it changes nothing else of the event that was
 * `sent`. Whatever validates, converts or prepares that value afterwards must be asked about with {@link leftoverOf}
 * before the value is carried out.
 */
export const readModification = (
  sent: JsonObject,
  modified: JsonValue,
  field: ChangeableField,
): Modification => {
  if (!isObject(modified)) return { leftover: { path: "", kind: "changed" } };
  const wanted = Object.hasOwn(modified, field) ? modified[field] : undefined;
  // A misplaced field says more than that the right one is not there.
  const leftover = leftoverOf(modified, wanted === undefined ? sent : { ...sent, [field]: wanted });
  if (leftover) return { leftover };
  return wanted === undefined ? { leftover: { path: field, kind: "added" } } : { wanted };
};

/** Returns a sentence that names the part of a change that cannot be applied, and says what to do. The path in it is untrusted text. */
export const describeLeftover = (leftover: JsonDifference, field: ChangeableField): string => {
  const { path, kind } = leftover;
  if (path === "") return "modified_payload is not an object";
  if (path === field && kind === "added") return `modified_payload has no ${field}`;
  if (path === field || path.startsWith(`${field}.`)) return describeDifference(leftover);
  const advice = field === "arguments" && kind === "missing" ? " (is it a field of arguments?)" : "";
  const name = path.length > maxNameLength ? `${path.slice(0, maxNameLength)}…` : path;
  return `${name} cannot be changed, only ${field} can${advice}`;
};
