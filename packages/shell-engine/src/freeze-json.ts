/** Freezes JSON with everything in it, and gives it back. */
export const freezeJson = <T>(value: T): T => {
  if (typeof value !== "object" || value === null) return value;
  for (const key in value) freezeJson(value[key]);
  return Object.freeze(value);
};
