import { HarnessError } from "@harnesskit/wire";
import { type ContractCase, checkEqual, checkRejects, checkThat } from "@harnesskit/wire/testing";
import type { CoreGrant } from "../permissions/grant.ts";
import type { GrantStore } from "../permissions/grant-store.ts";

/** A store that a case may do anything with. */
export interface OpenedGrants {
  readonly store: GrantStore;
  /** The same storage once more, as another process would have it; left out by a store that lives in one process. */
  readonly reopen?: (() => GrantStore) | undefined;
  /** Called once after each case, also when it failed. */
  dispose(): void | Promise<void>;
}

export interface GrantStoreContractOptions {
  /** The store's name; it begins each case's name. */
  readonly name: string;
  /** Opens an empty store for each case, with this limit. */
  readonly open: (limits: { readonly maxRecords: number }) => OpenedGrants | Promise<OpenedGrants>;
}

interface Context {
  readonly store: GrantStore;
  readonly other: GrantStore;
}

const sample = (number: number): CoreGrant => ({
  id: `grant_${number}`,
  agent_id: "demo.agent",
  permission: "net",
  granted_at: "2026-01-01T00:00:00.000Z",
  granted_by: "ada",
});

const maxRecords = 40;

const add = (store: GrantStore, ...items: readonly CoreGrant[]): Promise<void> =>
  store.change((before) => ({ items: [...before, ...items], result: undefined }));

const sorted = (items: readonly unknown[]): string[] => items.map((item) => JSON.stringify(item)).sort();

/** The store holds these grants, in any order. */
const checkHolds = async (store: GrantStore, items: readonly unknown[], what: string) =>
  checkEqual(sorted(await store.list()), sorted(items), what);

const cases: Readonly<Record<string, (context: Context) => Promise<void>>> = {
  "is empty at first, and shows each change to every other store at once": async ({ store, other }) => {
    await checkHolds(store, [], "a new store");
    for (let number = 0; number < 5; number++) {
      await other.list();
      await add(store, sample(number));
      checkEqual((await other.list()).length, number + 1, "the records of another store after a change");
    }
  },
  "returns the same array while nothing changes": async ({ store }) => {
    await add(store, sample(1));
    const end = Date.now() + 5000;
    for (let last = await store.list(); ; ) {
      const next = await store.list();
      if (next === last) break;
      checkThat(Date.now() < end, "each list is a new array");
      last = next;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  },
  "changes nothing where the edit returns no items, or throws": async ({ store }) => {
    await add(store, sample(1));
    checkEqual(await store.change(() => ({ result: 7 })), 7, "the result of a change without items");
    const thrown = new HarnessError("told", "no");
    const edit = (): never => {
      throw thrown;
    };
    const caught = await checkRejects(store.change(edit), "told", "a change whose edit throws");
    checkThat(caught === thrown, "what the edit throws is not what the change rejects with");
    await checkHolds(store, [sample(1)], "after an edit that threw");
    await add(store, sample(2));
    await checkHolds(store, [sample(1), sample(2)], "a change after one that failed");
  },
  "loses none of many changes at once": async ({ store, other }) => {
    const numbers = Array.from({ length: 16 }, (_, number) => number);
    await Promise.all(numbers.map((number) => add(number % 2 === 0 ? store : other, sample(number))));
    for (const each of [store, other]) await checkHolds(each, numbers.map(sample), "after many changes");
  },
  "keeps copies, and lists what cannot be changed": async ({ store }) => {
    const given = sample(1);
    await add(store, given);
    Object.assign(given, { id: "changed" });
    await checkHolds(store, [sample(1)], "after a change of the object that was given");
    const listed = await store.list();
    checkThat(Object.isFrozen(listed) && Object.isFrozen(listed[0]), "what is listed can be changed");
  },
  "refuses more records than its limit, and keeps what it has": async ({ store }) => {
    await add(store, ...Array.from({ length: maxRecords }, (_, number) => sample(number)));
    await checkRejects(add(store, sample(maxRecords)), "buffer_full", "one record too many");
    checkEqual((await store.list()).length, maxRecords, "the records after a refused change");
  },
};

/** The cases that every {@link GrantStore} passes. */
export const grantStoreContract = ({ name, open }: GrantStoreContractOptions): ContractCase[] =>
  Object.entries(cases).map(([title, body]) => ({
    name: `${name}: ${title}`,
    async run() {
      const { store, reopen, dispose } = await open({ maxRecords });
      try {
        await body({ store, other: reopen?.() ?? store });
      } finally {
        await dispose();
      }
    },
  }));
