import { listOfView } from "../list-view.ts";
import { SharedList } from "../shared-list.ts";
import { checkItems, demandList } from "./check.ts";
import { type Field, FieldFault, type FieldSchema, type FieldSpec, type ReducerName } from "./field.ts";
import { type KeyOf, keyProblem, keyReader } from "./item-key.ts";

export interface ListOptions<T> {
  /** What the list holds before anything is added. @default [] */
  readonly default?: readonly T[] | undefined;
}

interface Growth {
  readonly reducer: ReducerName;
  readonly problem?: string | undefined;
  readonly settings?: readonly unknown[];
  /** The items that an update adds. */
  itemsOf(update: unknown): readonly unknown[];
  /** What of the validated items is new. */
  select?(list: SharedList<unknown>, items: readonly unknown[]): readonly unknown[];
  toUpdate?(value: unknown): unknown;
}

/** A field whose list only grows at its end, so that its history is shared and never copied. */
const growingField = <T, Update>(
  item: FieldSchema<T>,
  options: ListOptions<T>,
  growth: Growth,
): Field<readonly T[], Update> => {
  /** By the lineage of a list: how many of its items this field has validated. */
  const validated = new WeakMap<object, number>();
  const trust = (list: SharedList<unknown>): SharedList<unknown> => {
    validated.set(list.lineage, Math.max(list.length, validated.get(list.lineage) ?? 0));
    return list;
  };
  const spec: FieldSpec = {
    reducer: growth.reducer,
    problem: growth.problem,
    settings: [item, ...(growth.settings ?? [])],
    makeDefault: () => options.default ?? [],
    parse(given, isStored) {
      const value = listOfView(given) ?? given;
      if (!(value instanceof SharedList)) {
        if (!Array.isArray(value)) throw new FieldFault("validation", ": expected a list");
        return trust(SharedList.of(checkItems(item, value, isStored)));
      }
      const list = value as SharedList<unknown>;
      const done = Math.min(validated.get(list.lineage) ?? 0, list.length);
      if (done === list.length) return list;
      const checked = checkItems(item, list.slice(done), isStored, done);
      return trust(isStored ? list : list.first(done).append(checked));
    },
    reduce(cell, update) {
      const list = cell as SharedList<unknown>;
      const items = checkItems(item, growth.itemsOf(update), false, list.length);
      const added = growth.select?.(list, items) ?? items;
      return trust(list.append(added));
    },
    toUpdate: growth.toUpdate ?? ((value) => value),
  };
  return { reducer: growth.reducer, spec };
};

const demandedList = (update: unknown): readonly unknown[] => {
  demandList(update, "the update");
  return update;
};

/** A list; an update is a list of items that are put at its end. `item` is the schema of one. */
export const append = <T>(
  item: FieldSchema<T>,
  options: ListOptions<T> = {},
): Field<readonly T[], readonly T[]> =>
  growingField(item, options, { reducer: "append", itemsOf: demandedList });

/** A list; an update is a list of lists, whose items are put at its end one list after the other. */
export const concatFlatten = <T>(
  item: FieldSchema<T>,
  options: ListOptions<T> = {},
): Field<readonly T[], readonly (readonly T[])[]> =>
  growingField(item, options, {
    reducer: "concat_flatten",
    itemsOf(update) {
      demandList(update, "the update");
      for (const [index, list] of update.entries()) demandList(list, `the update's item ${index}`);
      return (update as readonly (readonly unknown[])[]).flat();
    },
    toUpdate: (value) => [value],
  });

export interface DedupeOptions<T> extends ListOptions<T> {
  /**
   * The key of an item: the name of a property or a function. It must be a string, a number, a boolean, a bigint or
   * null. @default the item itself
   */
  readonly key?: KeyOf<T> | undefined;
}

/** A list; of an update, those items are put at its end whose key is not in it yet. Of several with one key, the first. */
export const dedupeAppend = <T>(
  item: FieldSchema<T>,
  options: DedupeOptions<T> = {},
): Field<readonly T[], readonly T[]> => {
  const { key } = options;
  const keyOf = keyReader(key as KeyOf<unknown> | undefined);
  const seenIn = new WeakMap<object, { readonly keys: Set<unknown>; length: number }>();
  const keysOf = (list: SharedList<unknown>): Set<unknown> => {
    const known = seenIn.get(list.lineage);
    const seen = known !== undefined && known.length <= list.length ? known : { keys: new Set(), length: 0 };
    for (const item of list.slice(seen.length)) seen.keys.add(keyOf(item));
    seen.length = list.length;
    seenIn.set(list.lineage, seen);
    return seen.keys;
  };
  return growingField(item, options, {
    reducer: "dedupe_append",
    problem: "key" in options ? keyProblem(key) : undefined,
    settings: [key],
    itemsOf: demandedList,
    select(list, items) {
      const seen = keysOf(list);
      const own = new Set<unknown>();
      return items.filter((item) => {
        const key = keyOf(item);
        if (seen.has(key) || own.has(key)) return false;
        own.add(key);
        return true;
      });
    },
  });
};
