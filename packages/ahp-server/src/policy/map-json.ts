/**
 * JSON with each part for which `replace` gives something else than undefined replaced by that; other parts are gone
 * through. `key` is the name of the nearest property. Parts in which nothing changes are the same objects as before. Calls
 * itself as deep as the value is.
 */
export const mapJson = (
  value: unknown,
  replace: (part: unknown, key: string | undefined) => unknown,
  key?: string,
): unknown => {
  const replaced = replace(value, key);
  if (replaced !== undefined) return replaced;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => mapJson(item, replace, key));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  let isChanged = false;
  const entries = Object.entries(value).map(([name, item]) => {
    const mapped = mapJson(item, replace, name);
    isChanged ||= mapped !== item;
    return [name, mapped] as const;
  });
  return isChanged ? Object.fromEntries(entries) : value;
};
