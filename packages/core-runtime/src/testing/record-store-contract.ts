import { HarnessError } from "@harnesskit/wire";
import { type ContractCase, checkRejects, checkThat } from "@harnesskit/wire/testing";
import type { RecordStore } from "../records/record-store.ts";

/** A store that a case may do anything with. */
export interface OpenedRecords<Item> {
  readonly store: RecordStore<Item>;
  /** The same storage once more, as another process would have it; left out by a store that lives in one process. */
  readonly reopen?: (() => RecordStore<Item>) | undefined;
  /** Called once after each case, also when it failed. */
  dispose(): void | Promise<void>;
}

export interface RecordStoreContractOptions<Item> {
  /** The store's name; it begins each case's name. */
  readonly name: string;
  /** Opens an empty store for each case, with this limit. */
  readonly open: (limits: {
    readonly maxRecords: number;
  }) => OpenedRecords<Item> | Promise<OpenedRecords<Item>>;
  /** A valid record; those of different numbers differ. */
  readonly sample: (number: number) => Item;
}

interface Context<Item> {
  readonly store: RecordStore<Item>;
  readonly other: RecordStore<Item>;
  readonly sample: (number: number) => Item;
}

const maxRecords = 40;

/** The records of a store as text, in any order. */
const recordsText = async (store: RecordStore<unknown>): Promise<string> =>
  JSON.stringify((await store.list()).map((item) => JSON.stringify(item)).sort());

const itemsText = (items: readonly unknown[]): string =>
  JSON.stringify(items.map((item) => JSON.stringify(item)).sort());

const add = <Item>(store: RecordStore<Item>, ...items: readonly Item[]): Promise<void> =>
  store.change((before) => ({ items: [...before, ...items], result: undefined }));

const cases: Readonly<Record<string, <Item>(context: Context<Item>) => Promise<void>>> = {
  "is empty at first, then holds what a change made, and returns its result": async ({ store, sample }) => {
    checkThat((await store.list()).length === 0, "a new store is not empty");
    const result = await store.change((before) => ({ items: [...before, sample(1)], result: before.length }));
    checkThat(result === 0, "a change does not return its result");
    checkThat(
      (await recordsText(store)) === itemsText([sample(1)]),
      "the record is not listed as it was made",
    );
  },
  "shows a change to every other store at once": async ({ store, other, sample }) => {
    for (let number = 0; number < 5; number++) {
      await other.list();
      await add(store, sample(number));
      checkThat((await other.list()).length === number + 1, "another store lists what was before the change");
    }
  },
  "returns the same array while nothing changes": async ({ store, sample }) => {
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
  "changes nothing where the edit returns no items, or throws": async ({ store, sample }) => {
    await add(store, sample(1));
    checkThat((await store.change(() => ({ result: 7 }))) === 7, "the result is lost");
    const thrown = new HarnessError("told", "no");
    const caught = await store
      .change((): never => {
        throw thrown;
      })
      .catch((error: unknown) => error);
    checkThat(caught === thrown, "what the edit throws is not what the change rejects with");
    checkThat(
      (await recordsText(store)) === itemsText([sample(1)]),
      "an edit that threw has changed the records",
    );
    await add(store, sample(2));
    checkThat((await store.list()).length === 2, "a change after one that failed is lost");
  },
  "loses none of many changes at once": async ({ store, other, sample }) => {
    const numbers = Array.from({ length: 16 }, (_, number) => number);
    await Promise.all(numbers.map((number) => add(number % 2 === 0 ? store : other, sample(number))));
    const wanted = itemsText(numbers.map(sample));
    checkThat(
      (await recordsText(store)) === wanted && (await recordsText(other)) === wanted,
      "a change is lost",
    );
  },
  "keeps copies, and lists what cannot be changed": async ({ store, sample }) => {
    const given = sample(1);
    await add(store, given);
    Object.assign(given as object, { id: "changed" });
    checkThat(
      (await recordsText(store)) === itemsText([sample(1)]),
      "a record changes with the object that was given",
    );
    const listed = await store.list();
    checkThat(Object.isFrozen(listed) && Object.isFrozen(listed[0]), "what is listed can be changed");
  },
  "refuses more records than its limit, and keeps what it has": async ({ store, sample }) => {
    const all = Array.from({ length: maxRecords }, (_, number) => sample(number));
    await add(store, ...all);
    await checkRejects(add(store, sample(maxRecords)), "buffer_full", "one record too many");
    checkThat((await store.list()).length === maxRecords, "the refused change has changed the records");
  },
};

/** The cases that every {@link RecordStore} passes. */
export const recordStoreContract = <Item>({
  name,
  open,
  sample,
}: RecordStoreContractOptions<Item>): ContractCase[] =>
  Object.entries(cases).map(([title, body]) => ({
    name: `${name}: ${title}`,
    async run() {
      const { store, reopen, dispose } = await open({ maxRecords });
      try {
        await body({ store, other: reopen?.() ?? store, sample });
      } finally {
        await dispose();
      }
    },
  }));
