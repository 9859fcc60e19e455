import {
  type ContractCase,
  ContractError,
  checkEqual,
  checkThat,
  type OpenedStore,
  runWithStore,
  type StoreContext,
} from "@harnesskit/wire/testing";
import type { RunRecord, StateRecord } from "../state/state-record.ts";
import { type StateStore, StateStoreError } from "../state/state-store.ts";

type Context = StoreContext<StateStore>;

const at = (second: number): string => new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString();

const ids = { run_id: "run 1/ü", session_id: "s\n1" };
const sender = { owner: '{"kind":"token"}', principal: { kind: "token" }, agent_id: "agent" };

const lifecycle = (second: number, prompt = "é\u2028\u0000😀"): StateRecord => ({
  kind: "run_lifecycle",
  ...sender,
  payload: { ...ids, status: "executing", prompt, updated_at: at(second), metadata: { a: [1, { b: null }] } },
});

const run: RunRecord = {
  kind: "run",
  owner: "",
  agent_id: "other",
  ...ids,
  task_list: { ...ids, tasks: [{ id: "1", title: "one", status: "pending" }], updated_at: at(1) },
  verifications: [{ ...ids, status: "failed", residual_risks: ["it may break"], updated_at: at(2) }],
};

const demandKept = async ({ store, other }: Context, expected: readonly StateRecord[], what: string) => {
  checkEqual([...store.load()], expected, `${what}, in the same process`);
  const next = await other();
  checkEqual([...next.load()], expected, `${what}, in the next process`);
};

const demandRefused = (call: () => void, what: string): void => {
  try {
    call();
  } catch (error) {
    if (StateStoreError.isInstance(error) && error.code === "state_not_kept") return;
    throw new ContractError(`${what}: an error without the code state_not_kept`, { cause: error });
  }
  throw new ContractError(`${what}: it succeeded`);
};

const cases: readonly { readonly name: string; run(context: Context): void | Promise<void> }[] = [
  {
    name: "an empty store has no record",
    run: (context) => demandKept(context, [], "an empty store"),
  },
  {
    name: "records are given back whole and in order, by each load and by the next process",
    async run(context) {
      const records = [lifecycle(1), run, lifecycle(2), { ...lifecycle(3), owner: "" }];
      for (const record of records) context.store.append(record);
      await demandKept(context, records, "what was appended");
      await demandKept(context, records, "a second load");
    },
  },
  {
    name: "what is appended after the next process has opened it is there for the one after",
    async run({ store, other }) {
      store.append(lifecycle(1));
      const next = await other();
      if (next !== store) await store.close();
      next.append(lifecycle(2));
      checkEqual([...(await other()).load()], [lifecycle(1), lifecycle(2)], "both records");
    },
  },
  {
    name: "a replacement takes the place of everything, and appends go on behind it",
    async run(context) {
      const { store } = context;
      for (let second = 0; second < 50; second++) store.append(lifecycle(second));
      store.replace([run, lifecycle(60)]);
      await demandKept(context, [run, lifecycle(60)], "the replacement");
      store.append(lifecycle(61));
      await demandKept(context, [run, lifecycle(60), lifecycle(61)], "an append behind it");
      store.replace([]);
      await demandKept(context, [], "an empty replacement");
    },
  },
  {
    name: "a replacement that fails changes nothing",
    async run(context) {
      context.store.append(run);
      const broken = function* (): Generator<StateRecord> {
        yield lifecycle(1);
        throw new RangeError("no more records");
      };
      try {
        context.store.replace(broken());
      } catch {
        // That it throws is what is wanted; with which error is its own choice.
      }
      await demandKept(context, [run], "what was there before");
      context.store.append(lifecycle(2));
      await demandKept(context, [run, lifecycle(2)], "an append behind it");
    },
  },
  {
    name: "the size grows with appends and shrinks with a replacement",
    run({ store }) {
      const sizes = [store.size];
      for (let second = 0; second < 3; second++) {
        store.append(lifecycle(second));
        sizes.push(store.size);
      }
      checkThat(
        sizes.every((size, index) => index === 0 || size > (sizes[index - 1] ?? 0)),
        "it does not grow",
      );
      store.replace([lifecycle(3)]);
      checkThat(store.size < (sizes[3] ?? 0), "it does not shrink");
    },
  },
  {
    name: "large records, of a million characters, are kept",
    run: async (context) => {
      const records = [lifecycle(1, "x".repeat(1_000_000)), lifecycle(2, "é".repeat(500_000)), run];
      for (const record of records) context.store.append(record);
      await demandKept(context, records, "large records");
    },
  },
  {
    name: "a closed store takes nothing more, and can be closed again",
    run({ store }) {
      store.append(run);
      store.close();
      store.close();
      demandRefused(() => store.append(run), "an append to a closed store");
      demandRefused(() => store.replace([]), "a replacement in a closed store");
    },
  },
];

/** The next process finds what the ones before have taken and kept. */
const kept = ({ store, reopen, dispose }: OpenedStore<StateStore>): OpenedStore<StateStore> => {
  if (reopen === undefined) return { store, dispose };
  const all = [store];
  return {
    ...{ store, dispose },
    async reopen() {
      for (const each of all) await each.kept?.();
      const next = await reopen();
      all.push(next);
      return next;
    },
  };
};

/**
 * The cases that every {@link StateStore} passes. `open` opens an empty store for each; its `reopen` is called without closing the first
 * store, as after the end of a process. Each case's name begins with `name`.
 */
export const stateStoreContract = ({
  name,
  open,
}: {
  readonly name: string;
  readonly open: () => OpenedStore<StateStore> | Promise<OpenedStore<StateStore>>;
}): ContractCase[] =>
  cases.map((entry) => ({
    name: `${name}: ${entry.name}`,
    run: async () => runWithStore(kept(await open()), entry.run),
  }));
