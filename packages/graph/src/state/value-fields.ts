import { isObject } from "@harnesskit/wire/json";
import { isList } from "../list.ts";
import { check, demandList, demandMapping } from "./check.ts";
import { type Field, FieldFault, type FieldSchema } from "./field.ts";

/** A value that an update replaces. `default` is its first value, and required. */
export const lastWriteWins = <T>(schema: FieldSchema<T>, options: { readonly default: T }): Field<T, T> => ({
  reducer: "last_write_wins",
  spec: {
    reducer: "last_write_wins",
    settings: [schema],
    makeDefault: () => options.default,
    parse: (value, isStored) => check(schema, isList(value) ? [...value] : value, isStored),
    reduce: (_, update) => check(schema, update),
    toUpdate: (value) => value,
  },
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
): Field<Mapping<T>, Update> => ({
  reducer,
  spec: {
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
  },
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
