import { InvalidArgumentError } from "@harnesskit/wire";
import type { Field, FieldSpec } from "./field.ts";

/** Fields by name. */
export type Fields = Readonly<Record<string, Field>>;

/** What a field holds. */
export type FieldValue<F> = F extends Field<infer Value, infer _> ? Value : never;
/** What an update of a field looks like. */
export type FieldUpdate<F> = F extends Field<infer _, infer Update> ? Update : never;

/** What a state holds: each field with its value. Deeply frozen at run time. */
export type StateOf<F extends Fields> = { readonly [K in keyof F]: FieldValue<F[K]> };

/** What a node gives back: updates of some fields, each as its reducer takes it. */
export type UpdateOf<F extends Fields> = { readonly [K in keyof F]?: FieldUpdate<F[K]> | undefined };

/** Values for some fields, as a run begins with them. */
export type InitialOf<F extends Fields> = { readonly [K in keyof F]?: FieldValue<F[K]> | undefined };

/** A field's place in a state. */
export interface Slot {
  readonly name: string;
  readonly spec: FieldSpec;
}

/** The declared fields of a state. */
export interface StateSchema<F extends Fields = Fields> {
  readonly fields: F;
  /** @internal */
  readonly slots: readonly Slot[];
  /** @internal By name, the index of the slot. */
  readonly places: ReadonlyMap<string, number>;
  /** @internal Names that were declared in two ways. */
  readonly conflicts: readonly string[];
}

const differ = (one: FieldSpec, other: FieldSpec): boolean =>
  one.reducer !== other.reducer ||
  one.settings.length !== other.settings.length ||
  one.settings.some((setting, index) => setting !== other.settings[index]);

/**
 * Declares a state. Several parts become one; a field may be in more than one if it is declared alike in all of them (the
 * graph does not compile otherwise: `conflicting_reducers`). Throws `invalid_argument` for a name that cannot be one.
 */
export function defineState<F extends Fields>(fields: F): StateSchema<F>;
export function defineState<A extends Fields, B extends Fields>(
  a: A,
  b: B,
): StateSchema<Omit<A, keyof B> & B>;
export function defineState(...parts: Fields[]): StateSchema {
  const slots: Slot[] = [];
  const places = new Map<string, number>();
  const conflicts: string[] = [];
  const fields: Record<string, Field> = {};
  for (const [name, field] of parts.flatMap((part) => Object.entries(part))) {
    if (name === "" || name === "__proto__") {
      throw new InvalidArgumentError(`a field of a state cannot be called ${JSON.stringify(name)}`);
    }
    const place = places.get(name);
    if (place === undefined) {
      places.set(name, slots.length);
      slots.push({ name, spec: field.spec });
      fields[name] = field;
    } else if (differ((slots[place] as Slot).spec, field.spec)) {
      conflicts.push(name);
    }
  }
  return { fields, slots, places, conflicts };
}
