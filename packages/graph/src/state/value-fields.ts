import { SharedList } from "../shared-list.ts";
import { check, checkItems, demandList, demandMapping, isMapping } from "./check.ts";
import type { Field, FieldSpec } from "./field.ts";
import { FieldFault } from "./field-fault.ts";
import { type KeyOf, keyProblem, keyReader } from "./item-key.ts";
import type { ListOptions } from "./list-fields.ts";
import type { FieldSchema } from "./standard-schema.ts";

/** A field that is held as its value. Values that it has parsed are known by identity and not parsed again. */
const valueField = <Value, Update>(
  spec: Omit<FieldSpec, "isList" | "toUpdate"> & Partial<Pick<FieldSpec, "toUpdate">>,
): Field<Value, Update> => {
  const known = new WeakSet<object>();
  const keep = (value: unknown): unknown => {
    if (typeof value === "object" && value !== null) known.add(value);
    return value;
  };
  return {
    reducer: spec.reducer,
    spec: {
      toUpdate: (value) => value,
      ...spec,
      isList: false,
      parse(given) {
        const value = given instanceof SharedList ? given.toArray() : given;
        if (typeof value === "object" && value !== null && known.has(value)) return value;
        return keep(spec.parse(value));
      },
      reduce: (cell, update) => keep(spec.reduce(cell, update)),
    },
  };
};

/** A value that an update replaces. `default` is what it is before; required. */
export const lastWriteWins = <T>(schema: FieldSchema<T>, options: { readonly default: T }): Field<T, T> =>
  valueField({
    reducer: "last_write_wins",
    problem: undefined,
    settings: [schema],
    makeDefault: () => options.default,
    parse: (value) => check(schema, value),
    reduce: (_, update) => check(schema, update),
  });

/** A field with the reducer that fields have where none is named: {@link lastWriteWins}. */
export const field = <T>(schema: FieldSchema<T>, options: { readonly default: T }): Field<T, T> =>
  lastWriteWins(schema, options);

type Mapping<T> = Readonly<Record<string, T>>;

export interface MappingOptions<T> {
  /** What the mapping holds before anything is added. @default {} */
  readonly default?: Mapping<T>;
}

const checkEntries = (entry: FieldSchema, value: Mapping<unknown>): Mapping<unknown> =>
  Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== "__proto__")
      .map(([key, item]) => [key, check(entry, item, `.${key}`)]),
  );

const mappingField = <T, Update>(
  reducer: "merge" | "merge_all",
  entry: FieldSchema<T>,
  options: MappingOptions<T>,
  partsOf: (update: unknown) => readonly Mapping<unknown>[],
  toUpdate: (value: unknown) => unknown,
): Field<Mapping<T>, Update> =>
  valueField({
    reducer,
    problem: undefined,
    settings: [entry],
    makeDefault: () => options.default ?? {},
    parse(value) {
      if (!isMapping(value)) throw new FieldFault("validation", ": expected a mapping");
      return Object.freeze(checkEntries(entry, value));
    },
    reduce(cell, update) {
      const parts = partsOf(update);
      if (parts.every((part) => Object.keys(part).length === 0)) return cell;
      return Object.freeze(Object.assign({}, cell, ...parts.map((part) => checkEntries(entry, part))));
    },
    toUpdate,
  });

/** A mapping; an update is a mapping whose entries are put over those of the same key. `entry` is the schema of one. */
export const merge = <T>(
  entry: FieldSchema<T>,
  options: MappingOptions<T> = {},
): Field<Mapping<T>, Mapping<T>> =>
  mappingField(
    "merge",
    entry,
    options,
    (update) => {
      demandMapping(update, "the update");
      return [update];
    },
    (value) => value,
  );

/** A mapping; an update is a list of mappings, merged one after the other. */
export const mergeAll = <T>(
  entry: FieldSchema<T>,
  options: MappingOptions<T> = {},
): Field<Mapping<T>, readonly Mapping<T>[]> =>
  mappingField(
    "merge_all",
    entry,
    options,
    (update) => {
      demandList(update, "the update");
      return update.map((part, index) => {
        demandMapping(part, `the update's item ${index}`);
        return part;
      });
    },
    (value) => [value],
  );

const parseList = (item: FieldSchema, value: unknown): unknown => {
  if (!Array.isArray(value)) throw new FieldFault("validation", ": expected a list");
  return Object.freeze(checkItems(item, value));
};

export interface BoundedOptions<T> extends ListOptions<T> {
  /** How many items it holds at most: an integer, at least 1. */
  readonly maxLength: number;
}

/** A list; an update is put at its end, and what is too much is dropped at its head. */
export const boundedAppend = <T>(
  item: FieldSchema<T>,
  options: BoundedOptions<T>,
): Field<readonly T[], readonly T[]> => {
  const { maxLength } = options;
  return valueField({
    reducer: "bounded_append",
    problem:
      Number.isSafeInteger(maxLength) && maxLength >= 1 ? undefined : "maxLength is no integer of at least 1",
    settings: [item, maxLength],
    makeDefault: () => options.default ?? [],
    parse: (value) => parseList(item, value),
    reduce(cell, update) {
      demandList(update, "the update");
      if (update.length === 0) return cell;
      const added = checkItems(item, update);
      return Object.freeze([...(cell as readonly unknown[]), ...added].slice(-maxLength));
    },
  });
};

export interface KeyedOptions<T> extends ListOptions<T> {
  /** What tells two records apart: the name of a property or a function. */
  readonly key: KeyOf<T>;
}

/**
 * A list of records; each of an update takes the place of the last one with its key, or is put at the end. Of several with
 * one key in an update, the last counts.
 */
export const mergeByKey = <T>(
  item: FieldSchema<T>,
  options: KeyedOptions<T>,
): Field<readonly T[], readonly T[]> => {
  const keyOf = keyReader(options.key as KeyOf<unknown>);
  return valueField({
    reducer: "merge_by_key",
    problem: keyProblem(options.key),
    settings: [item, options.key],
    makeDefault: () => options.default ?? [],
    parse: (value) => parseList(item, value),
    reduce(cell, update) {
      demandList(update, "the update");
      if (update.length === 0) return cell;
      const records = [...(cell as readonly unknown[])];
      const places = new Map(records.map((record, index) => [keyOf(record), index]));
      for (const record of checkItems(item, update)) {
        const key = keyOf(record);
        const place = places.get(key) ?? records.length;
        places.set(key, place);
        records[place] = record;
      }
      return Object.freeze(records);
    },
  });
};
