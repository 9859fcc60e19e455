import { GraphError, type GraphErrorDetails } from "../errors.ts";
import { SharedList } from "../shared-list.ts";
import { isMapping } from "./check.ts";
import { FieldFault } from "./field-fault.ts";
import type { Slot, StateSchema } from "./schema.ts";
import { Snapshot } from "./snapshot.ts";

/** Where an update comes from, for the error that names it. */
export interface UpdateOrigin {
  readonly nodeName?: string;
  readonly namespace?: readonly string[];
}

const toGraphError = (
  fault: unknown,
  { name, spec }: Slot,
  origin: UpdateOrigin,
  state: Snapshot | undefined,
): unknown => {
  if (!(fault instanceof FieldFault)) return fault;
  const details: GraphErrorDetails = {
    ...origin,
    ...(fault.cause === undefined ? {} : { cause: fault.cause }),
    ...(state === undefined ? {} : { recoverableState: state.view }),
    fields: [name],
  };
  return fault.kind === "reducer"
    ? new GraphError("reducer_error", `${spec.reducer} of ${name}: ${fault.message}`, {
        ...details,
        reducer: spec.reducer,
      })
    : new GraphError("state_validation_error", `${name}${fault.message}`, details);
};

const parsedDefault = (slot: Slot): unknown => {
  try {
    return slot.spec.parse(slot.spec.makeDefault());
  } catch (fault) {
    throw toGraphError(fault, slot, {}, undefined);
  }
};

/**
 * Makes what gives the state with nothing but defaults. Lists are new each time, since they grow in place; all else is
 * parsed once. What it gives throws `state_validation_error`.
 */
export const createDefaults = (schema: StateSchema): (() => Snapshot) => {
  let parsed: readonly unknown[] | undefined;
  return () => {
    parsed ??= schema.slots.map(parsedDefault);
    const cells = parsed.map((cell) => (cell instanceof SharedList ? cell.copy() : cell));
    return new Snapshot(schema, cells);
  };
};

const placeOf = (schema: StateSchema, name: string, origin: UpdateOrigin, state: Snapshot): number => {
  const place = schema.places.get(name);
  if (place !== undefined) return place;
  throw new GraphError("state_validation_error", `the state has no field ${name}`, {
    ...origin,
    recoverableState: state.view,
    fields: [name],
  });
};

const entriesOf = (
  values: unknown,
  what: string,
  origin: UpdateOrigin,
  state: Snapshot,
): [string, unknown][] => {
  if (values === undefined || values === null) return [];
  if (isMapping(values)) return Object.entries(values).filter(([, value]) => value !== undefined);
  throw new GraphError("state_validation_error", `${what} is no object`, {
    ...origin,
    recoverableState: state.view,
  });
};

/** Merges an update by the reducers of its fields. Throws `reducer_error` or `state_validation_error`. */
export const applyUpdate = (state: Snapshot, update: unknown, origin: UpdateOrigin): Snapshot => {
  const changes = new Map<number, unknown>();
  for (const [name, value] of entriesOf(update, "the update", origin, state)) {
    const place = placeOf(state.schema, name, origin, state);
    const slot = state.schema.slots[place] as Slot;
    try {
      const cell = state.cell(place);
      const next = slot.spec.reduce(cell, value);
      if (next !== cell) changes.set(place, next);
    } catch (fault) {
      throw toGraphError(fault, slot, origin, state);
    }
  }
  return state.with(changes);
};

/** Puts whole values in place of what was there, without the reducers. Throws `state_validation_error`. */
export const replaceFields = (state: Snapshot, values: unknown, origin: UpdateOrigin = {}): Snapshot => {
  const changes = new Map<number, unknown>();
  for (const [name, value] of entriesOf(values, "the state", origin, state)) {
    const place = placeOf(state.schema, name, origin, state);
    const slot = state.schema.slots[place] as Slot;
    try {
      changes.set(place, slot.spec.parse(value));
    } catch (fault) {
      throw toGraphError(fault, slot, origin, state);
    }
  }
  return state.with(changes);
};

/**
 * Merges the values that a run was started with: over a field that was loaded by its reducer, in place of a default.
 * Throws `reducer_error` or `state_validation_error`.
 */
export const applyInitial = (state: Snapshot, values: unknown, loaded: ReadonlySet<string>): Snapshot => {
  const whole: Record<string, unknown> = {};
  const updates: Record<string, unknown> = {};
  for (const [name, value] of entriesOf(values, "the initial state", {}, state)) {
    const place = placeOf(state.schema, name, {}, state);
    if (loaded.has(name)) updates[name] = (state.schema.slots[place] as Slot).spec.toUpdate(value);
    else whole[name] = value;
  }
  return applyUpdate(replaceFields(state, whole), updates, {});
};
