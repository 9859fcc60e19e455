type IsOptional<Value> = unknown extends Value ? false : undefined extends Value ? true : false;

/** An object type whose members that may be undefined are optional instead. */
type Defined<T> = {
  [Key in keyof T as IsOptional<T[Key]> extends true ? Key : never]?: Exclude<T[Key], undefined>;
} & { [Key in keyof T as IsOptional<T[Key]> extends true ? never : Key]: T[Key] };

/** A copy of an object without the members that are undefined: JSON has no such value. */
export const defined = <T extends object>(object: T): Defined<T> =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Defined<T>;
