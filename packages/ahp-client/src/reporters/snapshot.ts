import { displayText } from "@harnesskit/wire";
import { jsonLength } from "@harnesskit/wire/json";
import { ReporterError } from "./transitions.ts";

/** What the parts of a run share. */
export interface RunContext {
  /** The time, later than in any snapshot before. */
  now(): string;
  createId(prefix: "task" | "check"): string;
  /** Throws `run_ended`. */
  assertOpen(): void;
  /** Sends a contract with the ids of the run. When it throws, nothing was sent. */
  send(eventType: "task_list" | "verification", snapshot: object): void;
}

/** The named fields for which `source` has a value, and no others. */
export const definedFields = <T extends object, K extends keyof T>(
  source: T,
  names: readonly K[],
): Partial<Pick<T, K>> =>
  Object.fromEntries(
    names.flatMap((name) => (source[name] === undefined ? [] : [[name, source[name]]])),
  ) as Partial<Pick<T, K>>;

/** 0 for a value that is not JSON: the client refuses it. */
const jsonLengthOf = (value: unknown): number => {
  try {
    return jsonLength(value);
  } catch {
    return 0;
  }
};

/** The path of the innermost part that has more than half of the whole, such as `tasks.3.error`. */
const largestField = (value: object): string => {
  const path: string[] = [];
  const half = jsonLengthOf(value) / 2;
  let current: unknown = value;
  while (typeof current === "object" && current !== null) {
    const parts = Object.entries(current).map(([name, part]) => ({ name, part, length: jsonLengthOf(part) }));
    const [largest] = parts.sort((one, other) => other.length - one.length);
    if (!largest || (path.length > 0 && largest.length <= half)) break;
    path.push(largest.name);
    current = largest.part;
  }
  return path.join(".");
};

/**
 * Throws `snapshot_too_large` for a contract that a harness would refuse: the harness cannot answer a notification, so it
 * would keep the former contract silently.
 */
export const assertFits = (eventType: string, payload: object, limit: number): void => {
  const length = jsonLengthOf(payload);
  if (length <= limit) return;
  const field = largestField(payload);
  const shown = displayText(field, { maxLength: 100 });
  const message = `the ${eventType} has about ${length} characters, more than maxSnapshotLength of ${limit}: most are in ${shown}`;
  throw new ReporterError("snapshot_too_large", message, { field, limit });
};
