/**
 * The schema of a field: anything with the interface of Standard Schema (zod, valibot, arktype) that answers synchronously.
 */
export interface FieldSchema<Output = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

/** Why a schema refuses a value, and where in it. */
export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

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

/** Why a field refuses a value: for its reducer or for its schema. Becomes an error that names the field. */
export class FieldFault {
  constructor(
    readonly kind: "reducer" | "validation",
    readonly message: string,
    readonly cause?: unknown,
  ) {}
}

/**
 * What a field does. A cell is how its value is held: the deeply frozen value; a list that grows is made by `toList`.
 * All but `makeDefault` throw a `FieldFault`.
 */
export interface FieldSpec {
  readonly reducer: ReducerName;
  /** What is wrong with the declaration of the field. */
  readonly problem?: string | undefined;
  /** What else distinguishes two declarations of one field. */
  readonly settings: readonly unknown[];
  makeDefault(): unknown;
  /**
   * The cell of a whole value (or of a list). What was parsed before is not parsed again; a stored value is validated and
   * kept as it is.
   */
  parse(value: unknown, isStored?: boolean): unknown;
  /** The cell after an update; the new parts of the update are validated. */
  reduce(cell: unknown, update: unknown): unknown;
  /** A whole value in the form of an update. */
  toUpdate(value: unknown): unknown;
}

declare const types: unique symbol;

/** A declared field of a state: its value, its updates, and its reducer. */
export interface Field<Value = unknown, Update = unknown> {
  readonly [types]?: { readonly value: Value; readonly update: Update };
  readonly reducer: ReducerName;
  /** @internal */
  readonly spec: FieldSpec;
}
