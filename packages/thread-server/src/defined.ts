type Defined<T> = {
  [Key in keyof T as undefined extends T[Key] ? Key : never]?: Exclude<T[Key], undefined>;
} & { [Key in keyof T as undefined extends T[Key] ? never : Key]: T[Key] };

/** The object without what is undefined in it. */
export const defined = <T extends object>(object: T): Defined<T> =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Defined<T>;
