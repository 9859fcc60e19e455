/** An object type whose members that may be undefined are optional instead; a member of the type unknown stays as it is. */
export type Defined<T> = {
  [Key in keyof T as unknown extends T[Key] ? never : undefined extends T[Key] ? Key : never]?: Exclude<
    T[Key],
    undefined
  >;
} & {
  [Key in keyof T as unknown extends T[Key] ? Key : undefined extends T[Key] ? never : Key]: T[Key];
};

/** A copy of an object without the members that are undefined: JSON has no such value. */
export const defined = <T extends object>(object: T): Defined<T> =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Defined<T>;
