import { isObject } from "@harnesskit/wire/json";
import { isList } from "../list.ts";
import { check, checkItems, demandList, demandMapping } from "./check.ts";
import { type Field, FieldFault, type FieldSchema, type FieldSpec } from "./field.ts";
import { type KeyOf, keyProblem, keyReader } from "./item-key.ts";
import type { ListOptions } from "./list-fields.ts";

/** A field that is held as its value. */
const valueField = <Value, Update>(
  spec: Omit<FieldSpec, "toUpdate"> & Partial<Pick<FieldSpec, "toUpdate">>,
): Field<Value, Update> => ({
  reducer: spec.reducer,
  spec: {
    toUpdate: (value) => value,
    ...spec,
    parse: (value, isStored) => spec.parse(isList(value) ? [...value] : value, isStored),
  },
});

/** A value that an update replaces. `default` is its first value, and required. */
export const lastWriteWins = <T>(schema: FieldSchema<T>, options: { readonly default: T }): Field<T, T> =>
  valueField({
    reducer: "last_write_wins",
    settings: [schema],
    makeDefault: () => options.default,
    parse: (value, isStored) => check(schema, value, isStored),
    reduce: (_, update) => check(schema, update),
  });

/** A field with the default reducer, {@link lastWriteWins}. */
export const field = <T>(schema: FieldSchema<T>, options: { readonly default: T }): Field<T, T> =>
  lastWriteWins(schema, options);

type Mapping<T> = Readonly<Record<string, T>>;

export interface MappingOptions<T> {
  /** The first content of the mapping. @default {} */
  readonly default?: Mapping<T> | undefined;
}

const checkEntries = (entry: FieldSchema, value: Mapping<unknown>, isStored = false): Mapping<unknown> =>
  Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== "__proto__")
      .map(([key, item]) => [key, check(entry, item, isStored, `.${key}`)]),
  );

const mappingField = <T, Update>(
  reducer: "merge" | "merge_all",
  entry: FieldSchema<T>,
  options: MappingOptions<T>,
  partsOf: (update: unknown) => readonly Mapping<unknown>[],
): Field<Mapping<T>, Update> =>
  valueField({
    reducer,
    settings: [entry],
    makeDefault: () => options.default ?? {},
    parse(value, isStored) {
      if (!isObject(value)) throw new FieldFault("validation", ": expected a mapping");
      return Object.freeze(checkEntries(entry, value, isStored));
    },
    reduce(cell, update) {
      const parts = partsOf(update).filter((part) => Object.keys(part).length > 0);
      if (parts.length === 0) return cell;
      return Object.freeze(Object.assign({}, cell, ...parts.map((part) => checkEntries(entry, part))));
    },
    toUpdate: (value) => (reducer === "merge" ? value : [value]),
  });

/** A mapping; the entries of an update replace those with the same key. `entry` is the schema of one. */
export const merge = <T>(
  entry: FieldSchema<T>,
  options: MappingOptions<T> = {},
): Field<Mapping<T>, Mapping<T>> =>
  mappingField("merge", entry, options, (update) => {
    demandMapping(update, "the update");
    return [update];
  });

/** A mapping; an update is a list of mappings, merged one after the other. */
export const mergeAll = <T>(
  entry: FieldSchema<T>,
  options: MappingOptions<T> = {},
): Field<Mapping<T>, readonly Mapping<T>[]> =>
  mappingField("merge_all", entry, options, (update) => {
    demandList(update, "the update");
    return update.map((part, index) => {
      demandMapping(part, `the update's item ${index}`);
      return part;
    });
  });

const parseList = (item: FieldSchema, value: unknown, isStored?: boolean): unknown => {
  if (!Array.isArray(value)) throw new FieldFault("validation", ": expected a list");
  return Object.freeze(checkItems(item, value, isStored));
};

export interface BoundedOptions<T> extends ListOptions<T> {
  /** How many items it holds: an integer of at least 1. */
  readonly maxLength: number;
}

/** A list; an update is added at its end, and items beyond `maxLength` are dropped at its head. */
export const boundedAppend = <T>(
  item: FieldSchema<T>,
  { maxLength, default: first = [] }: BoundedOptions<T>,
): Field<readonly T[], readonly T[]> =>
  valueField({
    reducer: "bounded_append",
    problem:
      Number.isSafeInteger(maxLength) && maxLength >= 1
        ? undefined
        : "maxLength must be an integer of at least 1",
    settings: [item, maxLength],
    makeDefault: () => first,
    parse: (value, isStored) => parseList(item, value, isStored),
    reduce(cell, update) {
      demandList(update, "the update");
      if (update.length === 0) return cell;
      const added = checkItems(item, update);
      return Object.freeze([...(cell as readonly unknown[]), ...added].slice(-maxLength));
    },
  });

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
  { key, default: first = [] }: KeyedOptions<T>,
): Field<readonly T[], readonly T[]> => {
  const keyOf = keyReader(key as KeyOf<unknown>);
  return valueField({
    reducer: "merge_by_key",
    problem: keyProblem(key),
    settings: [item, key],
    makeDefault: () => first,
    parse: (value, isStored) => parseList(item, value, isStored),
    reduce(cell, update) {
      demandList(update, "the update");
      if (update.length === 0) return cell;
      const records = [...(cell as readonly unknown[])];
      const places = new Map(records.map((record, index) => [keyOf(record), index]));
      for (const record of checkItems(item, update)) {
        const ownKey = keyOf(record);
        const place = places.get(ownKey) ?? records.length;
        places.set(ownKey, place);
        records[place] = record;
      }
      return Object.freeze(records);
    },
  });
};
