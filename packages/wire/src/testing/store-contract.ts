import { jsonDifference } from "../json/json-difference.ts";
import { ContractError } from "./contract-error.ts";

/** A store that a case may do anything with. */
export interface OpenedStore<Store> {
  readonly store: Store;
  /**
   * Opens the same storage once more, as another process would; left out by a store that lives in one process. The cases close
   * what it returns.
   */
  readonly reopen?: () => Store | Promise<Store>;
  /** Removes what the store has kept. Called once after each case, also when it failed. */
  dispose(): void | Promise<void>;
}

/** What a case works with. */
export interface StoreContext<Store> {
  readonly store: Store;
  /** Another store over the same storage, or the same one where the storage has only one. */
  other(): Promise<Store>;
}

/** Runs a case, then closes every store that it used and removes the storage. */
export const runWithStore = async <Store extends { close(): unknown }>(
  { store, reopen = () => store, dispose }: OpenedStore<Store>,
  run: (context: StoreContext<Store>) => void | Promise<void>,
): Promise<void> => {
  const opened = new Set([store]);
  try {
    await run({
      store,
      async other() {
        const other = await reopen();
        opened.add(other);
        return other;
      },
    });
  } finally {
    for (const each of opened) await each.close();
    await dispose();
  }
};

const plainJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null));

/** Throws `contract_broken` unless both are the same JSON, whatever the order of keys. `undefined` counts as `null`. */
export const checkEqual = (actual: unknown, expected: unknown, what: string): void => {
  const [wanted, got] = [plainJson(expected), plainJson(actual)];
  const difference = jsonDifference(wanted, got);
  if (difference === undefined) return;
  const [wantedText, gotText] = [wanted, got].map((value) => JSON.stringify(value).slice(0, 300));
  throw new ContractError(`${what}: expected ${wantedText}, got ${gotText}, at "${difference.path}"`);
};
