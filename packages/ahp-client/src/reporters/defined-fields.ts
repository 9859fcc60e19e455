/** The named fields that `source` has a value for, and no others: what a caller passes beside them changes nothing. */
export const definedFields = <T extends object, K extends keyof T>(
  source: T,
  names: readonly K[],
): Partial<Pick<T, K>> => {
  const fields: Partial<Pick<T, K>> = {};
  for (const name of names) {
    if (source[name] !== undefined) fields[name] = source[name];
  }
  return fields;
};
