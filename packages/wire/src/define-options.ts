import { InvalidArgumentError } from "./errors.ts";

/** Options with all their defaults: each has a value. */
export type Resolved<Options> = { readonly [Name in keyof Options]-?: Exclude<Options[Name], undefined> };

/** The values of an option that is one of some strings, each of them once; never for any other option. */
type ValuesOf<Value> = [Value] extends [never]
  ? never
  : [Value] extends [string]
    ? string extends Value
      ? never
      : Readonly<Record<Value, true>>
    : never;

/**
 * Each option of a type, and whether its constructor needs it, or its values where it may be left out and is one of some strings: TypeScript
 * refuses a missing and an unknown name or value.
 */
export type OptionNames<Options> = {
  readonly [Name in Options extends unknown ? keyof Options : never]: false extends (
    Options extends unknown
      ? Name extends keyof Options
        ? object extends Pick<Options, Name>
          ? false
          : true
        : false
      : never
  )
    ? OptionalName<ValueOf<Options, Name>>
    : true;
};

type ValueOf<Options, Name extends PropertyKey> = Options extends { readonly [Key in Name]?: infer Value }
  ? Exclude<Value, undefined>
  : never;
type OptionalName<Value> = [ValuesOf<Value>] extends [never] ? false : ValuesOf<Value>;

/**
 * Defines the options of a constructor in one place: each name, and whether it must be given. The result returns the options
 * that it gets, so that it fits around them. It throws `invalid_argument` for what is not an object, for a name that is not
 * an option (with those that are), for a missing option, and for a value that is not one of the strings that the option may be. An option that is `undefined` is not given.
 *
 * @param owner what stands before the message, such as "createThreadClient"
 *
 * @example
 * const checkClientOptions = defineOptions<ClientOptions>("createClient", { transport: true, clock: false });
 * export const createClient = (options: ClientOptions): Client => new Client(checkClientOptions(options));
 */
export const defineOptions =
  <Options>(owner: string, names: OptionNames<Options>) =>
  <Given extends object>(options: Given): Given => {
    if (typeof options !== "object" || options === null) {
      throw new InvalidArgumentError(
        `${owner} takes an object of options, got a value of type ${typeof options}`,
      );
    }
    const known = Object.keys(names);
    for (const [name, value] of Object.entries(options)) {
      if (value === undefined || Object.hasOwn(names, name)) continue;
      throw new InvalidArgumentError(
        `${owner}: "${name}" is not an option; the options are ${known.join(", ")}`,
      );
    }
    const given = options as { readonly [name: string]: unknown };
    for (const name of known) {
      const values = names[name as keyof typeof names] as unknown;
      const value = given[name];
      if (typeof values !== "object" || values === null || value === undefined) continue;
      if (typeof value === "string" && Object.hasOwn(values, value)) continue;
      const all = Object.keys(values).map((each) => JSON.stringify(each));
      const got =
        typeof value === "string" ? JSON.stringify(value.slice(0, 100)) : `a value of type ${typeof value}`;
      throw new InvalidArgumentError(`${owner}: ${name} must be ${all.join(" or ")}, got ${got}`);
    }
    const missing = known.find(
      (name) => names[name as keyof typeof names] === true && given[name] === undefined,
    );
    if (missing !== undefined) throw new InvalidArgumentError(`${owner} needs the option "${missing}"`);
    return options;
  };
