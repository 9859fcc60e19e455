import { jsonLength } from "@harnesskit/protocol/envelope";
import { displayText, InvalidArgumentError } from "@harnesskit/wire";
import { ReporterError } from "./transitions.ts";

/** What a harness takes of one contract unless it was told otherwise. */
const defaultMaxSnapshotLength = 1_048_576;

/** The limit with its default. Throws `invalid_argument`. */
export const resolveMaxSnapshotLength = (given = defaultMaxSnapshotLength): number =>
  wholeNumber("maxSnapshotLength", given);

/** A limit as it is. Throws `invalid_argument`. */
export const wholeNumber = (name: string, given: number): number => {
  if (Number.isSafeInteger(given) && given >= 1) return given;
  throw new InvalidArgumentError(`${name} is a positive integer`);
};

/** The length, as a harness counts it; 0 for what cannot be read, or contains itself, which is no JSON. */
const lengthOf = (value: unknown): number => {
  try {
    return jsonLength(value);
  } catch {
    return 0;
  }
};

/** The part that has more than half of the whole, as deep as there is one: `tasks.3.error`. */
const largestField = (value: unknown): string => {
  const path: string[] = [];
  const half = lengthOf(value) / 2;
  let current = value;
  while (typeof current === "object" && current !== null) {
    const [name, part] = largestPart(current);
    if (name === undefined || (path.length > 0 && lengthOf(part) <= half)) break;
    path.push(name);
    current = part;
  }
  return path.join(".");
};

const largestPart = (value: object): [string | undefined, unknown] => {
  let name: string | undefined;
  let part: unknown;
  let length = -1;
  for (const [key, entry] of Object.entries(value)) {
    const found = lengthOf(entry);
    if (found <= length) continue;
    name = key;
    part = entry;
    length = found;
  }
  return [name, part];
};

/**
 * Throws `snapshot_too_large` for a contract that a harness would not take: nobody answers a notification, so that the
 * harness would keep the former one without a word. What is no JSON is left to the client, which refuses it.
 */
export const assertFits = (eventType: string, payload: object, limit: number): void => {
  const length = lengthOf(payload);
  if (length <= limit) return;
  const field = largestField(payload);
  const shown = displayText(field, { maxLength: 100 });
  const text = `the ${eventType} has about ${length} characters, more than maxSnapshotLength of ${limit}: most are in ${shown}`;
  throw new ReporterError("snapshot_too_large", text, { field, limit });
};
