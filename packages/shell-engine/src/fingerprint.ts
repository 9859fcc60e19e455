const mix = (hash: number, unit: number, prime: number): number => Math.imul(hash ^ unit, prime);

/** Spreads each bit over all, so that sums of such numbers do not cancel each other. */
const spread = (hash: number): number => {
  const half = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  const whole = Math.imul(half ^ (half >>> 13), 0xc2b2ae35);
  return whole ^ (whole >>> 16);
};

/** Two sums of 32 bits over the same value: the one that is returned, and `other`. */
class Sums {
  other = 0;

  text(text: string, kind: number): number {
    let one = mix(0x811c9dc5, text.length ^ kind, 0x01000193);
    let other = mix(0x9747b28c, text.length ^ kind, 0x5bd1e995);
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index);
      one = mix(one, unit, 0x01000193);
      other = mix(other ^ (other >>> 15), unit, 0x5bd1e995);
    }
    this.other = spread(other);
    return spread(one);
  }

  value(value: unknown): number {
    if (typeof value === "string") return this.text(value, 1);
    if (typeof value !== "object" || value === null) return this.text(String(value), 2);
    return Array.isArray(value) ? this.#list(value) : this.#object(value as Record<string, unknown>);
  }

  #list(list: readonly unknown[]): number {
    let one = list.length;
    let other = ~list.length;
    for (const entry of list) {
      one = mix(one, this.value(entry), 0x01000193);
      other = mix(other ^ (other >>> 15), this.other, 0x5bd1e995);
    }
    return this.#end(one, other, 3);
  }

  /** Its entries are added up, so that their order is nothing. */
  #object(object: Readonly<Record<string, unknown>>): number {
    let one = 0;
    let other = 0;
    for (const key in object) {
      const value = object[key];
      if (value === undefined) continue;
      const keyOne = this.text(key, 4);
      const keyOther = this.other;
      one = (one + spread(mix(keyOne, this.value(value), 0x01000193))) | 0;
      other = (other + spread(mix(keyOther, this.other, 0x5bd1e995))) | 0;
    }
    return this.#end(one, other, 5);
  }

  #end(one: number, other: number, kind: number): number {
    this.other = spread(other ^ kind);
    return spread(one ^ kind);
  }
}

/**
 * A number of 53 bits that is the same for the same JSON, whatever the order of its keys. It is no cryptographic digest: it
 * tells a retry from a mistake, among the requests of one credential, and guards nothing.
 */
export const fingerprint = (value: unknown): number => {
  const sums = new Sums();
  const one = sums.value(value);
  return (one >>> 0) * 2 ** 21 + (sums.other >>> 11);
};
