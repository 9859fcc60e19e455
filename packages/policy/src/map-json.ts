/**
 * JSON with each part replaced for which `replace` returns something other than undefined; other parts are visited. `key` is
 * the name of the nearest property. Recursive: the caller bounds the depth.
 */
export const mapJson = (
  value: unknown,
  replace: (part: unknown, key: string | undefined) => unknown,
  key?: string,
): unknown => {
  const replaced = replace(value, key);
  if (replaced !== undefined) return replaced;
  if (Array.isArray(value)) return value.map((item) => mapJson(item, replace, key));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, mapJson(item, replace, name)]),
  );
};
