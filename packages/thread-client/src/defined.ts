export type Fields = Readonly<Record<string, unknown>>;

/** The same fields, without those that are undefined: JSON knows no such value. */
export const defined = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
