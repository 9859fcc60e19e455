import { type ContractCase, ContractError, checkEqual } from "@harnesskit/wire/testing";
import type { ContinuationStore } from "../continuation-store.ts";

/** A store that a case may do anything with. */
export interface OpenedContinuationStore {
  readonly store: ContinuationStore;
  /** The same storage, opened as another process would; left out by a store that lives in one process. */
  readonly other?: ContinuationStore;
  /** Closes the stores and removes what they have kept. Called once after each case, also when it failed. */
  dispose(): void | Promise<void>;
}

export interface ContinuationStoreContractOptions {
  /** The store's name; it begins each case's name. */
  readonly name: string;
  /** Opens an empty store, for each case. */
  readonly open: () => OpenedContinuationStore | Promise<OpenedContinuationStore>;
}

type Case = (store: ContinuationStore, other: ContinuationStore) => Promise<void>;

const later = (): number => Date.now() + 60_000;

const used = { status: "used" } as const;

const cases: Readonly<Record<string, Case>> = {
  async "a continuation is used once, with what was left for it, and can be given back"(store, other) {
    const data = { signal: "s\u0000", list: [1, null] };
    await store.keep("cont_1", data, later(), "ada");
    checkEqual(await store.claim("cont_1", later()), { status: "claimed", data }, "the first claim");
    checkEqual(await other.claim("cont_1", later()), used, "the second claim");
    await other.release("cont_1");
    checkEqual(
      await store.claim("cont_1", later()),
      { status: "claimed", data },
      "the claim after a release",
    );
  },
  async "a continuation for which nothing was left is used once"(store, other) {
    const claim = await store.claim("cont_1", later());
    const data = "data" in claim ? claim.data : undefined;
    checkEqual([claim.status, data], ["claimed", undefined], "the first claim");
    checkEqual(await other.claim("cont_1", later()), used, "the second claim");
    await store.release("never seen");
  },
  async "of many attempts at once exactly one is claimed"(store, other) {
    await store.keep("cont_1", 1, later(), "ada");
    const claims = await Promise.all(
      Array.from({ length: 20 }, async (_, index) => (index % 2 ? other : store).claim("cont_1", later())),
    );
    const { length } = claims.filter(({ status }) => status === "claimed");
    if (length !== 1) throw new ContractError(`${length} of 20 attempts were claimed, not one`);
  },
  async "continuations are apart, also those of one owner"(store, other) {
    for (const id of ["a", "b"]) await store.keep(id, id, later(), "ada");
    checkEqual(await other.claim("b", later()), { status: "claimed", data: "b" }, "the claim of b");
    checkEqual(await store.claim("a", later()), { status: "claimed", data: "a" }, "the claim of a");
  },
};

/** The cases that every `ContinuationStore` passes. */
export const continuationStoreContract = ({ name, open }: ContinuationStoreContractOptions): ContractCase[] =>
  Object.entries(cases).map(([title, each]) => ({
    name: `${name}: ${title}`,
    async run() {
      const { store, other = store, dispose } = await open();
      try {
        await each(store, other);
      } finally {
        await dispose();
      }
    },
  }));
