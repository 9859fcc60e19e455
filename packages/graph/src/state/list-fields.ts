import { isList, toList } from "../list.ts";
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
  select?(list: readonly unknown[], items: readonly unknown[]): readonly unknown[];
  toUpdate?(value: unknown): unknown;
}

/** A field whose list only grows at its end: what it has validated is not validated again. */
const growingField = <T, Update>(
  item: FieldSchema<T>,
  options: ListOptions<T>,
  growth: Growth,
): Field<readonly T[], Update> => {
  const validated = new WeakSet<readonly unknown[]>();
  const trust = (list: readonly unknown[]): readonly unknown[] => {
    validated.add(list);
    return list;
  };
  const spec: FieldSpec = {
    reducer: growth.reducer,
    problem: growth.problem,
    settings: [item, ...(growth.settings ?? [])],
    makeDefault: () => options.default ?? [],
    parse(value, isStored) {
      if (!Array.isArray(value)) throw new FieldFault("validation", ": expected a list");
      if (validated.has(value)) return value;
      const checked = checkItems(item, value, isStored);
      return trust(isStored && isList(value) ? value : toList(checked));
    },
    reduce(cell, update) {
      const list = cell as readonly unknown[];
      const items = checkItems(item, growth.itemsOf(update), false, list.length);
      const added = growth.select?.(list, items) ?? items;
      if (added.length === 0) return list;
      return trust(toList(list, added));
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
  return growingField(item, options, {
    reducer: "dedupe_append",
    problem: "key" in options ? keyProblem(key) : undefined,
    settings: [key],
    itemsOf: demandedList,
    select(list, items) {
      const seen = new Set<unknown>(list.map(keyOf));
      return items.filter((item) => {
        const key = keyOf(item);
        if (seen.has(key)) return false;
        seen.add(key);
        return true;
      });
    },
  });
};
