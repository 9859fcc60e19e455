const prime = 0x9e3779b1 | 0;

const step = (state: number, word: number): number => {
  const mixed = Math.imul(state ^ word, prime);
  return mixed ^ (mixed >>> 15);
};

/**
 * A number of 32 bits for some bytes. Every step is a bijection of the state, so that a change within one word of four
 * bytes always changes the result. It finds accidents and names the line; against intent there is the hash.
 *
 * Four states take turns, since a processor works on them side by side.
 */
export const checkOf = (view: DataView, start: number, end: number): number => {
  let first = end - start;
  let second = 1;
  let third = 2;
  let fourth = 3;
  let at = start;
  for (; at + 16 <= end; at += 16) {
    first = step(first, view.getInt32(at, true));
    second = step(second, view.getInt32(at + 4, true));
    third = step(third, view.getInt32(at + 8, true));
    fourth = step(fourth, view.getInt32(at + 12, true));
  }
  let state = step(step(step(first, second), third), fourth);
  for (; at < end; at++) state = step(state, view.getUint8(at));
  return state;
};

const digits = new TextEncoder().encode("0123456789abcdef");

/** Writes the eight hexadecimal digits of a check. */
export const writeCheck = (bytes: Uint8Array, at: number, check: number): void => {
  for (let index = 0; index < 8; index++) bytes[at + index] = digits[(check >>> (28 - 4 * index)) & 15] ?? 0;
};

/** `,"check":"` + 8 digits + `"}`: what ends every line. */
export const checkPrefix: Uint8Array = new TextEncoder().encode(',"check":"');
/** `,"hash":"` + 64 digits + `"`: what stands before it in a line that seals. */
export const hashPrefix: Uint8Array = new TextEncoder().encode(',"hash":"');
export const checkSuffixBytes: number = checkPrefix.length + 8 + 2;
export const hashFieldBytes: number = hashPrefix.length + 64 + 1;
