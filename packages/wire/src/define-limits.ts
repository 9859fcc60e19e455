import { InvalidArgumentError } from "./errors.ts";
import { maxTimerMs } from "./time/clock.ts";

/** The numbers that an option takes. */
export interface NumberRange {
  /** @default 1 */
  readonly min?: number;
  /** @default 2 ** 31 - 1 for a name that ends with `Ms`, else Number.MAX_SAFE_INTEGER */
  readonly max?: number;
  /** Whether fractions are allowed. @default false */
  readonly allowFraction?: boolean;
}

/**
 * Returns the number. Throws `invalid_argument` for a value outside the range, with the option's name, what it takes and
 * what it got.
 */
export const checkNumber = (name: string, value: unknown, range: NumberRange = {}): number => {
  const {
    min = 1,
    max = name.endsWith("Ms") ? maxTimerMs : Number.MAX_SAFE_INTEGER,
    allowFraction = false,
  } = range;
  const isOfKind = allowFraction ? typeof value === "number" : Number.isSafeInteger(value);
  if (isOfKind && (value as number) >= min && (value as number) <= max) return value as number;
  const kind = allowFraction ? "a number" : "a whole number";
  const bounds = max === Number.MAX_SAFE_INTEGER ? `of at least ${min}` : `from ${min} to ${max}`;
  const found = typeof value === "number" ? String(value) : `a value of type ${typeof value}`;
  throw new InvalidArgumentError(`${name} must be ${kind} ${bounds}, got ${found}`);
};

/** One limit: its default, or its default and its range. */
export type LimitDefinition = number | (NumberRange & { readonly default: number });

export interface LimitsDefinition<Definitions> {
  readonly defaults: { readonly [Name in keyof Definitions]: number };
  /**
   * All limits, frozen: those given, else their defaults. Throws `invalid_argument` for a value outside its range and for
   * a name that is not a limit. `path` stands before names in errors.
   *
   * @param path default "limits"
   */
  resolve(
    overrides?: { readonly [Name in keyof Definitions]?: number | undefined },
    path?: string,
  ): { readonly [Name in keyof Definitions]: number };
}

/** The resolved limits of a definition; `Partial` of it is what a caller may set. */
export type LimitsOf<Definition> =
  Definition extends LimitsDefinition<infer Definitions>
    ? { readonly [Name in keyof Definitions]: number }
    : never;

const rangeOf = (definition: LimitDefinition): NumberRange & { readonly default: number } =>
  typeof definition === "number" ? { default: definition } : definition;

/**
 * Defines the limits of a role in one place: names, documentation, defaults and ranges. A limit is a whole number of at
 * least 1, and of at most 2 ** 31 - 1 where its name ends with `Ms`, unless its definition says otherwise.
 *
 * @example
 * export const serverLimits = defineLimits({
 *   maxSessions: 64,
 *   maxDepth: { default: 10, min: 0, max: 256 },
 * });
 * export type ServerLimits = LimitsOf<typeof serverLimits>;
 * const limits = serverLimits.resolve(options.limits);
 */
export const defineLimits = <const Definitions extends Readonly<Record<string, LimitDefinition>>>(
  definitions: Definitions,
): LimitsDefinition<Definitions> => {
  type Limits = { readonly [Name in keyof Definitions]: number };
  const names = Object.keys(definitions);
  const defaults = Object.fromEntries(
    names.map((name) => [name, rangeOf(definitions[name] as LimitDefinition).default]),
  );
  return {
    defaults: Object.freeze(defaults) as Limits,
    resolve(overrides = {}, path = "limits") {
      const unknown = Object.keys(overrides).find((name) => !Object.hasOwn(definitions, name));
      if (unknown !== undefined) {
        throw new InvalidArgumentError(
          `${path}.${unknown} is not a limit; the limits are ${names.join(", ")}`,
        );
      }
      const limits = { ...defaults };
      for (const name of names) {
        const value = overrides[name];
        if (value === undefined) continue;
        limits[name] = checkNumber(`${path}.${name}`, value, rangeOf(definitions[name] as LimitDefinition));
      }
      return Object.freeze(limits) as Limits;
    },
  };
};
