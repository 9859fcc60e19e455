/** Spreads each bit over all, so that sums of such numbers do not cancel each other. */
const spread = (hash: number): number => {
  const half = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  const whole = Math.imul(half ^ (half >>> 13), 0xc2b2ae35);
  return whole ^ (whole >>> 16);
};

const hashOfText = (text: string, seed: number): number => {
  let hash = seed ^ text.length;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ (hash >>> 15) ^ text.charCodeAt(index), 0x5bd1e995);
  }
  return spread(hash);
};

/** 32 bits of a JSON value. The entries of an object are added up, so that their order has no effect. */
const hashOf = (value: unknown, seed: number): number => {
  if (typeof value === "string") return hashOfText(value, seed);
  if (typeof value !== "object" || value === null) return hashOfText(String(value), ~seed);
  if (Array.isArray(value)) {
    let hash = seed + 1;
    for (const entry of value) hash = spread(Math.imul(hash, 0x01000193) ^ hashOf(entry, seed));
    return hash;
  }
  let sum = seed + 2;
  for (const [key, entry] of Object.entries(value)) {
    if (entry !== undefined)
      sum += spread(Math.imul(hashOfText(key, seed), 0x01000193) ^ hashOf(entry, seed));
    sum |= 0;
  }
  return spread(sum);
};

/**
 * A number of 53 bits that is the same for the same JSON, whatever the order of its keys. It is not a cryptographic
 * digest: it tells a retry from a mistake among the requests of one credential.
 */
export const fingerprint = (value: unknown): number =>
  (hashOf(value, 0x2c1b3c6d) >>> 0) * 2 ** 21 + (hashOf(value, 0x297a2d39) >>> 11);
