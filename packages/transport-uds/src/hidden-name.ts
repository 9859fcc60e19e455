const alphabet = "0123456789abcdefghijklmnopqrstuv";
const marker = ".hk-";
/** From this length on a name has room for the marker and is unique nevertheless. */
const markedLength = 12;

/** A name of `length` characters that begins with a dot, out of five bits of each byte. */
export const hiddenName = (bytes: Uint8Array, length: number): string => {
  let name = length >= markedLength ? marker : ".";
  for (const byte of bytes.subarray(0, length - name.length)) name += alphabet.charAt(byte & 31);
  return name;
};

/** True for the names that only this package gives. */
export const isMarkedName = (name: string): boolean => /^\.hk-[0-9a-v]{8,}$/.test(name);
