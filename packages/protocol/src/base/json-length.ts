/** About how many characters a JSON value has as text: escapes are not counted. */
export const jsonLength = (value: unknown): number => {
  switch (typeof value) {
    case "string":
      return value.length + 2;
    case "number":
      return 8;
    case "boolean":
      return 5;
    case "object":
      break;
    default:
      return 0;
  }
  if (value === null) return 4;
  let length = 2;
  if (Array.isArray(value)) {
    for (const entry of value) length += jsonLength(entry) + 1;
    return length;
  }
  for (const key of Object.keys(value)) {
    length += key.length + 4 + jsonLength((value as Record<string, unknown>)[key]);
  }
  return length;
};
