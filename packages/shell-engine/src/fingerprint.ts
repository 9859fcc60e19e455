const mix = (hash: number, unit: number, prime: number): number => Math.imul(hash ^ unit, prime);

/** Two sums of 32 bits over the same units. */
class Sums {
  #one = 0x811c9dc5;
  #other = 0x9747b28c;
  #length = 0;

  add(text: string): void {
    this.#length += text.length + 1;
    let one = mix(this.#one, text.length, 0x01000193);
    let other = mix(this.#other, text.length, 0x5bd1e995);
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index);
      one = mix(one, unit, 0x01000193);
      other = mix(other ^ (other >>> 15), unit, 0x5bd1e995);
    }
    this.#one = one;
    this.#other = other;
  }

  toString(): string {
    const hex = (sum: number) => (sum >>> 0).toString(16);
    return `${hex(this.#one)}.${hex(this.#other)}.${this.#length.toString(16)}`;
  }
}

const addTo = (sums: Sums, value: unknown): void => {
  if (typeof value !== "object" || value === null) sums.add(`${(typeof value)[0]}${String(value)}`);
  else if (Array.isArray(value)) {
    sums.add(`[${value.length}`);
    for (const entry of value) addTo(sums, entry);
  } else {
    const keys = Object.keys(value).filter((key) => (value as Record<string, unknown>)[key] !== undefined);
    sums.add(`{${keys.length}`);
    for (const key of keys.sort()) {
      sums.add(key);
      addTo(sums, (value as Record<string, unknown>)[key]);
    }
  }
};

/**
 * A short text that is the same for the same JSON, whatever the order of its keys. It is no cryptographic digest: it tells
 * a retry from a mistake, among the requests of one credential, and guards nothing.
 */
export const fingerprint = (value: unknown): string => {
  const sums = new Sums();
  addTo(sums, value);
  return sums.toString();
};
