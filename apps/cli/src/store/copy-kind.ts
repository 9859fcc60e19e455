import { HarnessError, jsonDifference, systemClock, wait } from "@harnesskit/wire";
import { CliError } from "../cli-error.ts";

/** What was copied of one kind. */
export interface CopyCount {
  /** How many there are. */
  readonly total: number;
  /** How many of them this run has copied; the others were there already. */
  readonly copied: number;
}

export const conflict = (what: string, id: string): CliError =>
  new CliError(
    "copy_conflict",
    `${what} ${id} already exists in TO with different content and was not overwritten`,
    { hint: "Copy to an empty store, or remove it there." },
  );

/** A value as JSON has it. */
const plainJson = (value: unknown) => JSON.parse(JSON.stringify(value));

/** Whether both are the same JSON, whatever the order of their keys. */
export const sameJson = (one: unknown, other: unknown): boolean =>
  jsonDifference(plainJson(one), plainJson(other)) === undefined;

interface CopyKind<T> {
  readonly what: string;
  readonly idOf: (one: T) => string;
  /** What TO has in its place; nothing else may be there. */
  readonly find: (one: T) => unknown;
  /** What is compared: without what each store gives on its own. @default all of it */
  readonly said?: (one: T) => unknown;
  readonly put: (one: T) => unknown;
}

/** Copies what TO does not have. Rejects with a `CliError` `copy_conflict` where it has something else. */
export const copyEach = async <T>(
  from: Iterable<T> | AsyncIterable<T>,
  { what, idOf, find, said = (one) => one, put }: CopyKind<T>,
): Promise<CopyCount> => {
  let [total, copied] = [0, 0];
  for await (const one of from) {
    total++;
    const there = (await find(one)) as T | null | undefined;
    if (there === undefined || there === null) {
      await put(one);
      copied++;
    } else if (!sameJson(said(there), said(one))) throw conflict(what, idOf(one));
  }
  return { total, copied };
};

/** Everything that is read by pages. @param read the page behind a place, and the place behind that page */
export async function* allOf<T, At>(
  first: At,
  read: (at: At) => Promise<readonly [items: readonly T[], next: At]>,
): AsyncGenerator<T> {
  for (let at = first; ; ) {
    const [items, next] = await read(at);
    yield* items;
    if (items.length === 0) return;
    at = next;
  }
}

/** How long what is in use is waited for: longer than a copy that was killed keeps it. */
const patienceMs = 8000;
const pollMs = 200;

/** Takes a thread or a conversation. Rejects with a `CliError` `copy_in_use` where another program keeps it. */
export const taken = async <Held>(what: string, take: () => Promise<Held>): Promise<Held> => {
  const untilMs = performance.now() + patienceMs;
  for (;;) {
    try {
      return await take();
    } catch (cause) {
      if (!HarnessError.isInstance(cause) || !["lease_taken", "thread_locked"].includes(cause.code))
        throw cause;
      if (performance.now() >= untilMs)
        throw new CliError("copy_in_use", `${what} is in use`, {
          hint: "End the programs that use FROM, and copy again: what was copied stays.",
          cause,
        });
      await wait(pollMs, systemClock, undefined);
    }
  }
};

/** Copies what other programs may use, each while it is held. `copy` returns whether there was something to copy. */
export const copyHeld = async (
  what: string,
  ids: readonly string[],
  take: (id: string) => Promise<{ release(): Promise<void> }>,
  copy: (id: string) => Promise<boolean>,
): Promise<CopyCount> => {
  let copied = 0;
  for (const id of ids) {
    const held = await taken(`${what} ${id}`, () => take(id));
    try {
      if (await copy(id)) copied++;
    } finally {
      await held.release();
    }
  }
  return { total: ids.length, copied };
};
