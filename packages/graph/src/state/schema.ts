import { InvalidArgumentError } from "@harnesskit/wire";
import type { Field, FieldSpec } from "./field.ts";

/** Fields by name. */
export type Fields = Readonly<Record<string, Field>>;

/** The value of a field. */
export type FieldValue<F> = F extends Field<infer Value, infer _> ? Value : never;
/** An update of a field. */
export type FieldUpdate<F> = F extends Field<infer _, infer Update> ? Update : never;

/** The values of a state. Deeply frozen at run time. */
export type StateOf<F extends Fields> = { readonly [K in keyof F]: FieldValue<F[K]> };

/** What a node returns: updates of some fields, each as its reducer takes it. */
export type UpdateOf<F extends Fields> = { readonly [K in keyof F]?: FieldUpdate<F[K]> | undefined };

/** The initial values of some fields. */
export type InitialOf<F extends Fields> = { readonly [K in keyof F]?: FieldValue<F[K]> | undefined };

/** The declared fields of a state. */
export interface StateSchema<F extends Fields = Fields> {
  readonly fields: F;
  /** @internal By name, in the order of the declaration. */
  readonly specs: ReadonlyMap<string, FieldSpec>;
  /** @internal Names with two different declarations. */
  readonly conflicts: readonly string[];
}

const differ = (one: FieldSpec, other: FieldSpec): boolean =>
  one.reducer !== other.reducer ||
  one.settings.length !== other.settings.length ||
  one.settings.some((setting, index) => setting !== other.settings[index]);

/**
 * Declares a state. Several parts become one; a field may be in more than one if its declarations are equal (otherwise the
 * graph does not compile: `conflicting_reducers`). Throws `invalid_argument` for a name that is not valid.
 */
export function defineState<F extends Fields>(fields: F): StateSchema<F>;
export function defineState<A extends Fields, B extends Fields>(
  a: A,
  b: B,
): StateSchema<Omit<A, keyof B> & B>;
export function defineState(...parts: Fields[]): StateSchema {
  const specs = new Map<string, FieldSpec>();
  const conflicts: string[] = [];
  const fields: Record<string, Field> = {};
  for (const [name, field] of parts.flatMap((part) => Object.entries(part))) {
    if (name === "" || name === "__proto__") {
      throw new InvalidArgumentError(`${JSON.stringify(name)} is not a valid name of a field`);
    }
    const known = specs.get(name);
    if (known === undefined) {
      specs.set(name, field.spec);
      fields[name] = field;
    } else if (differ(known, field.spec)) {
      conflicts.push(name);
    }
  }
  return { fields, specs, conflicts };
}
