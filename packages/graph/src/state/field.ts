/** The eight ways in which an update becomes part of a field. */
export type ReducerName =
  | "last_write_wins"
  | "append"
  | "merge"
  | "concat_flatten"
  | "merge_all"
  | "bounded_append"
  | "dedupe_append"
  | "merge_by_key";

/**
 * What a field does. A cell is how its value is held: a `SharedList` where `isList`, the deeply frozen value otherwise.
 * All but `makeDefault` throw a `FieldFault`.
 */
export interface FieldSpec {
  readonly reducer: ReducerName;
  /** What is wrong with how the field was declared. */
  readonly problem: string | undefined;
  /** Lists that only ever grow at their end. */
  readonly isList: boolean;
  /** What else makes two declarations of one field different. */
  readonly settings: readonly unknown[];
  makeDefault(): unknown;
  /** The cell of a whole value (or of a `SharedList`). What was parsed before is not parsed again. */
  parse(value: unknown): unknown;
  /** The cell after an update; the new parts of the update are validated. */
  reduce(cell: unknown, update: unknown): unknown;
  /** A whole value in the form of an update. */
  toUpdate(value: unknown): unknown;
}

declare const types: unique symbol;

/** A declared field of a state: what it holds, what an update of it looks like, and its reducer. */
export interface Field<Value = unknown, Update = unknown> {
  readonly [types]?: { readonly value: Value; readonly update: Update };
  readonly reducer: ReducerName;
  /** @internal */
  readonly spec: FieldSpec;
}
