const alphabet = "0123456789abcdefghijklmnopqrstuv";

/** A name of `length` characters that begins with a dot, out of five bits of each byte. */
export const hiddenName = (bytes: Uint8Array, length: number): string => {
  let name = ".";
  for (const byte of bytes.subarray(0, length - 1)) name += alphabet.charAt(byte & 31);
  return name;
};
