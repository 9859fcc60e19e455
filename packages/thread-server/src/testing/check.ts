import type { Event, Grant, Thread } from "@harnesskit/protocol/threads";
import { ContractError } from "@harnesskit/wire/testing";
import { StoreError } from "../errors.ts";
import type { ReadEventsOptions, ThreadStore } from "../thread-store.ts";

/** The value with the keys of its objects in one order: stores may keep them in any. */
const ordered = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, part]) => part !== undefined);
  return Object.fromEntries(
    entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, part]) => [key, ordered(part)]),
  );
};

const show = (value: unknown): string => {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
};

/** Throws `contract_broken` unless the condition holds. */
export function demand(condition: boolean, otherwise: string): asserts condition {
  if (!condition) throw new ContractError(otherwise);
}

/** Throws `contract_broken` unless both are the same JSON, in whatever order of keys. */
export const demandSame = (actual: unknown, expected: unknown, what: string): void => {
  if (JSON.stringify(ordered(actual)) === JSON.stringify(ordered(expected))) return;
  throw new ContractError(`${what}: expected ${show(expected)}, got ${show(actual)}`);
};

/** Throws `contract_broken` unless this is what the store rejects with. */
export const demandError = (error: unknown, code: string, what: string): void => {
  if (StoreError.isInstance(error) && error.code === code) return;
  const got = StoreError.isInstance(error) ? error.code : "an error of another kind";
  throw new ContractError(`${what}: expected ${code}, got ${got}`, { cause: error });
};

/** Waits for a rejection with this code; throws `contract_broken` for any other outcome. */
export const demandRejection = async (work: Promise<unknown>, code: string, what: string): Promise<void> => {
  const outcome = await work.then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  if (!outcome) throw new ContractError(`${what}: expected ${code}, but it succeeded`);
  demandError(outcome.error, code, what);
};

export const readAll = async (
  store: ThreadStore,
  threadId: string,
  options?: ReadEventsOptions,
): Promise<Event[]> => {
  const all: Event[] = [];
  for await (const event of store.events(threadId, options)) all.push(event);
  return all;
};

/** A thread as a server makes it. */
export const sampleThread = (threadId: string, updated = 1): Thread => ({
  threadId,
  title: `Title of ${threadId} — “ü”\u2028`,
  directory: "/work",
  time: { created: 1, updated },
});

/** An event of a thread; its text takes about `length` characters. */
export const sampleEvent = (threadId: string, seq: number, length = 10): Event => ({
  seq,
  time: 1000 + seq,
  type: "item.delta",
  data: {
    threadId,
    turnId: "turn_1",
    itemId: "item_1",
    type: "assistant_message",
    delta: `ü\n\0${"x".repeat(length)}`,
  },
});

export const sampleEvents = (threadId: string, from: number, to: number, length?: number): Event[] =>
  Array.from({ length: to - from + 1 }, (_, index) => sampleEvent(threadId, from + index, length));

export const sampleGrant = (grantId: string, threadId: string, scope: Grant["scope"]): Grant => ({
  grantId,
  scope,
  threadId,
  directory: "/work",
  tool: "bash",
  input: { command: "ls", nested: { deep: [1, null, "ü"] } },
  digest: `sha256:${"0".repeat(64)}`,
  requestId: "apr_1_1",
  grantedBy: "client-1",
  time: 5,
});

/** Ids that no store makes up: each would name another place, or none, if it were taken for a file's name. */
export const hostileIds: readonly string[] = [
  "",
  ".",
  "..",
  "/",
  "../ses_1",
  "ses_../ses_1",
  "ses_1/",
  "ses_1/../ses_1",
  "ses_1\\..\\ses_1",
  "ses_1\0",
  "SES_1",
  "__proto__",
  "constructor",
  "con",
  `ses_${"a".repeat(5000)}`,
];
