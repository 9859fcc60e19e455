import { isList, toList } from "../list.ts";
import { checkItems, demandList } from "./check.ts";
import { type Field, FieldFault, type FieldSchema, type FieldSpec, type ReducerName } from "./field.ts";
import { type KeyOf, keyProblem, keyReader } from "./item-key.ts";

export interface ListOptions<T> {
  /** What the list holds before anything is added. @default [] */
  readonly default?: readonly T[] | undefined;
}

type Items = readonly unknown[];

interface ListReducer {
  readonly reducer: ReducerName;
  readonly problem?: string | undefined;
  readonly settings?: Items;
  /** Whether the list only grows at its end: then a store keeps it item by item, and what was validated is not validated again. */
  readonly onlyGrows: boolean;
  /** The items of an update. @default an update is a list of them */
  itemsOf?(update: unknown): Items;
  toUpdate?(value: unknown): unknown;
  /** Of a list that grows, what of these items is new; of any other, the list with them. @default all of them */
  add?(list: Items, items: Items): Items;
}

const demandedList = (update: unknown): Items => {
  demandList(update, "the update");
  return update;
};

const listField = <T, Update>(
  item: FieldSchema<T>,
  { default: first = [] }: ListOptions<T>,
  { onlyGrows, itemsOf = demandedList, add = (_, items) => items, ...reducer }: ListReducer,
): Field<readonly T[], Update> => {
  const validated = new WeakSet<Items>();
  const trust = (list: Items): Items => {
    if (onlyGrows) validated.add(list);
    return list;
  };
  const spec: FieldSpec = {
    toUpdate: (value) => value,
    ...reducer,
    settings: [item, ...(reducer.settings ?? [])],
    makeDefault: () => first,
    parse(value, isStored) {
      if (!Array.isArray(value)) throw new FieldFault("validation", ": expected a list");
      if (validated.has(value)) return value;
      const checked = checkItems(item, value, isStored);
      if (!onlyGrows) return Object.freeze(checked);
      return trust(isStored && isList(value) ? value : toList(checked));
    },
    reduce(cell, update) {
      const list = cell as Items;
      const given = itemsOf(update);
      if (given.length === 0) return list;
      const added = add(list, checkItems(item, given, false, onlyGrows ? list.length : 0));
      if (!onlyGrows) return Object.freeze(added);
      return added.length === 0 ? list : trust(toList(list, added));
    },
  };
  return { reducer: spec.reducer, spec };
};

/** A list; an update is a list of items that are put at its end. `item` is the schema of one. */
export const append = <T>(
  item: FieldSchema<T>,
  options: ListOptions<T> = {},
): Field<readonly T[], readonly T[]> => listField(item, options, { reducer: "append", onlyGrows: true });

/** A list; an update is a list of lists, whose items are put at its end one list after the other. */
export const concatFlatten = <T>(
  item: FieldSchema<T>,
  options: ListOptions<T> = {},
): Field<readonly T[], readonly (readonly T[])[]> =>
  listField(item, options, {
    reducer: "concat_flatten",
    onlyGrows: true,
    itemsOf(update) {
      demandList(update, "the update");
      for (const [index, list] of update.entries()) demandList(list, `the update's item ${index}`);
      return (update as readonly Items[]).flat();
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
  return listField(item, options, {
    reducer: "dedupe_append",
    problem: "key" in options ? keyProblem(key) : undefined,
    settings: [key],
    onlyGrows: true,
    add(list, items) {
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

export interface BoundedOptions<T> extends ListOptions<T> {
  /** How many items it holds: an integer of at least 1. */
  readonly maxLength: number;
}

/** A list; an update is added at its end, and items beyond `maxLength` are dropped at its head. */
export const boundedAppend = <T>(
  item: FieldSchema<T>,
  options: BoundedOptions<T>,
): Field<readonly T[], readonly T[]> => {
  const { maxLength } = options;
  const isValid = Number.isSafeInteger(maxLength) && maxLength >= 1;
  return listField(item, options, {
    reducer: "bounded_append",
    problem: isValid ? undefined : "maxLength must be an integer of at least 1",
    settings: [maxLength],
    onlyGrows: false,
    add: (list, items) => [...list, ...items].slice(-maxLength),
  });
};

export interface KeyedOptions<T> extends ListOptions<T> {
  /** The key of a record: the name of a property or a function. */
  readonly key: KeyOf<T>;
}

/**
 * A list of records; each record of an update replaces the last one with its key, or is added at the end. The last of several
 * records with one key in an update counts.
 */
export const mergeByKey = <T>(
  item: FieldSchema<T>,
  options: KeyedOptions<T>,
): Field<readonly T[], readonly T[]> => {
  const { key } = options;
  const keyOf = keyReader(key as KeyOf<unknown>);
  return listField(item, options, {
    reducer: "merge_by_key",
    problem: keyProblem(key),
    settings: [key],
    onlyGrows: false,
    add(list, items) {
      const records = [...list];
      const places = new Map(records.map((record, index) => [keyOf(record), index]));
      for (const record of items) {
        const ownKey = keyOf(record);
        const place = places.get(ownKey) ?? records.length;
        places.set(ownKey, place);
        records[place] = record;
      }
      return records;
    },
  });
};
