import { isObject } from "@harnesskit/wire/json";
import { GraphError, type GraphErrorDetails, thrownMessage } from "../errors.ts";
import { FieldFault, type FieldSpec } from "./field.ts";
import type { StateSchema } from "./schema.ts";
import { Snapshot } from "./snapshot.ts";

/** The node of an update, for errors. */
export interface UpdateOrigin {
  readonly nodeName?: string;
  readonly namespace?: readonly string[];
}

/** Calls a field; what it refuses becomes a `reducer_error` or a `state_validation_error` that names the field. */
const callField = <T>(name: string, { reducer }: FieldSpec, details: GraphErrorDetails, call: () => T): T => {
  try {
    return call();
  } catch (fault) {
    if (!(fault instanceof FieldFault)) throw fault;
    const all = { ...details, fields: [name], cause: fault.cause };
    throw fault.kind === "reducer"
      ? new GraphError("reducer_error", `${reducer} of ${name}: ${fault.message}`, { ...all, reducer })
      : new GraphError("state_validation_error", `${name}${fault.message}`, all);
  }
};

/**
 * Returns a function that creates the state of all defaults, which are parsed once. The function throws
 * `state_validation_error`.
 */
export const createDefaults = (schema: StateSchema): (() => Snapshot) => {
  let parsed: readonly (readonly [string, unknown])[] | undefined;
  return () => {
    parsed ??= [...schema.specs].map(([name, spec]) => [
      name,
      callField(name, spec, {}, () => spec.parse(spec.makeDefault())),
    ]);
    return new Snapshot(schema, new Map(parsed));
  };
};

/** Changes the cells of the fields that have a value. Throws for values that are not an object, and for unknown fields. */
const changeCells = (
  state: Snapshot,
  values: unknown,
  what: string,
  origin: UpdateOrigin,
  toCell: (spec: FieldSpec, value: unknown, cell: unknown, name: string) => unknown,
): Snapshot => {
  if (values === undefined || values === null) return state;
  const details = { ...origin, recoverableState: state.view };
  if (!isObject(values)) {
    throw new GraphError("state_validation_error", `${what} is not an object`, details);
  }
  const changes = new Map<string, unknown>();
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) continue;
    const spec = state.schema.specs.get(name);
    if (spec === undefined) {
      const message = `the state has no field ${name}`;
      throw new GraphError("state_validation_error", message, { ...details, fields: [name] });
    }
    const cell = state.cell(name);
    const next = callField(name, spec, details, () => toCell(spec, value, cell, name));
    if (next !== cell) changes.set(name, next);
  }
  return state.with(changes);
};

/** Merges an update by the reducers of its fields. Throws `reducer_error` or `state_validation_error`. */
export const applyUpdate = (state: Snapshot, update: unknown, origin: UpdateOrigin): Snapshot =>
  changeCells(state, update, "the update", origin, (spec, value, cell) => spec.reduce(cell, value));

/** Replaces whole values, without the reducers. Throws `state_validation_error`. */
export const replaceFields = (state: Snapshot, values: unknown): Snapshot =>
  changeCells(state, values, "the state", {}, (spec, value) => spec.parse(value));

/** The same for values that were stored: they are validated, and kept as they are. */
export const loadFields = (state: Snapshot, values: unknown): Snapshot =>
  changeCells(state, values, "the state", {}, (spec, value) => spec.parse(value, true));

/**
 * A state that was kept, over the defaults of its graph: what the graph does not declare any more is left out. Throws what `refuse`
 * makes of a state that does not fit.
 */
export const loadKnown = (
  { schema, defaults }: { readonly schema: StateSchema; readonly defaults: () => Snapshot },
  values: Readonly<Record<string, unknown>>,
  put: typeof loadFields,
  refuse: (message: string, cause: unknown) => Error,
): Snapshot => {
  const known = Object.entries(values).filter(([name]) => schema.specs.has(name));
  try {
    return put(defaults(), Object.fromEntries(known));
  } catch (cause) {
    throw refuse(`the stored state is not one of the graph: ${thrownMessage(cause)}`, cause);
  }
};

/** The same for the state that middleware passes on: what it has not changed is not parsed again. */
export const replaceChanged = (state: Snapshot, values: unknown, origin: UpdateOrigin): Snapshot =>
  changeCells(state, values, "the state", origin, (spec, value, cell) =>
    value === cell ? cell : spec.parse(value),
  );

/**
 * Merges the initial values of a run: by the reducer into a field that was loaded, in place of a default otherwise. Throws
 * `reducer_error` or `state_validation_error`.
 */
export const applyInitial = (state: Snapshot, values: unknown, loaded: ReadonlySet<string>): Snapshot =>
  changeCells(state, values, "the initial state", {}, (spec, value, cell, name) =>
    loaded.has(name) ? spec.reduce(cell, spec.toUpdate(value)) : spec.parse(value),
  );
