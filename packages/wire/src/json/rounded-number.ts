const stringOrNumber = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

const keepsItsValue = (token: string): boolean => {
  const value = Number(token);
  if (!/^-?\d+$/.test(token)) return Number.isFinite(value);
  return Number.isSafeInteger(value) || String(value) === token;
};

/**
 * The first number of a JSON text that would be read as another one: an integer whose digits are not kept, beyond 2^53, or
 * one that is too large. Undefined where each keeps its value; a fraction may be rounded.
 */
export const roundedNumber = (text: string): string | undefined =>
  text.match(stringOrNumber)?.find((token) => !token.startsWith('"') && !keepsItsValue(token));
