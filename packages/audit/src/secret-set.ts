const gramLength = 4;
const tableSize = 1 << 16;

/** A number for the four characters at a place. */
const gramAt = (text: string, at: number): number => {
  const first = Math.imul(text.charCodeAt(at), 0x9e37) ^ text.charCodeAt(at + 1);
  const last = Math.imul(text.charCodeAt(at + 2), 0x85eb) ^ text.charCodeAt(at + 3);
  return (Math.imul(first, 0xca6b) ^ last) & (tableSize - 1);
};

/** How many secrets have a length. */
interface LengthCount {
  readonly length: number;
  count: number;
}

/** Finds many known texts in another one, at a cost that depends on its length and not on their number. */
export class SecretSet {
  /** Which grams some secret begins with. */
  readonly #begins = new Uint8Array(tableSize);
  /** The lengths of the secrets that begin with a gram, longest first, so that one that begins with another goes as a whole. */
  readonly #lengths = new Map<number, LengthCount[]>();
  /** Every secret, and how often it was added. */
  readonly #uses = new Map<string, number>();
  /** Characters of the shortest and the longest; a string shorter than the shortest contains no secret. */
  shortest = Number.POSITIVE_INFINITY;
  longest = 0;

  /** A shorter secret cannot be distinguished from other strings. */
  static readonly minLength = gramLength;

  add(secret: string): void {
    const uses = this.#uses.get(secret) ?? 0;
    this.#uses.set(secret, uses + 1);
    if (uses > 0) return;
    const { length } = secret;
    const gram = gramAt(secret, 0);
    const lengths = this.#lengths.get(gram) ?? [];
    const same = lengths.find((each) => each.length === length);
    if (same === undefined) lengths.push({ length, count: 1 });
    else same.count++;
    lengths.sort((a, b) => b.length - a.length);
    this.#lengths.set(gram, lengths);
    this.#begins[gram] = 1;
    this.shortest = Math.min(this.shortest, length);
    this.longest = Math.max(this.longest, length);
  }

  /** Takes back one `add`. */
  delete(secret: string): void {
    const uses = this.#uses.get(secret) ?? 0;
    if (uses > 1) this.#uses.set(secret, uses - 1);
    if (uses !== 1) return;
    this.#uses.delete(secret);
    const gram = gramAt(secret, 0);
    const same = this.#lengths.get(gram)?.find(({ length }) => length === secret.length);
    if (same !== undefined) same.count--;
    const rest = this.#lengths.get(gram)?.filter(({ count }) => count > 0) ?? [];
    if (rest.length > 0) {
      this.#lengths.set(gram, rest);
    } else {
      this.#lengths.delete(gram);
      this.#begins[gram] = 0;
    }
    this.#measure();
  }

  #measure(): void {
    this.shortest = Number.POSITIVE_INFINITY;
    this.longest = 0;
    for (const lengths of this.#lengths.values()) {
      this.longest = Math.max(this.longest, lengths[0]?.length ?? 0);
      this.shortest = Math.min(this.shortest, lengths.at(-1)?.length ?? Number.POSITIVE_INFINITY);
    }
  }

  #secretAt(text: string, at: number): string | undefined {
    for (const { length } of this.#lengths.get(gramAt(text, at)) ?? []) {
      const candidate = text.slice(at, at + length);
      if (this.#uses.has(candidate)) return candidate;
    }
    return undefined;
  }

  /** Where the next secret is, or -1. */
  #next(text: string, from: number): number {
    const last = text.length - gramLength;
    for (let at = from; at <= last; at++) {
      if (this.#begins[gramAt(text, at)] === 1 && this.#secretAt(text, at) !== undefined) return at;
    }
    return -1;
  }

  /** The string with every secret replaced; the same string where it holds none. */
  replace(text: string, replacement: string): string {
    if (text.length < this.shortest) return text;
    let at = this.#next(text, 0);
    if (at === -1) return text;
    let result = "";
    let from = 0;
    while (at !== -1) {
      result += text.slice(from, at) + replacement;
      from = at + (this.#secretAt(text, at)?.length ?? 1);
      // One that overlaps the end of this one would leave its rest behind: it goes too.
      for (let inside = at + 1; inside < from; inside++) {
        const other = this.#secretAt(text, inside);
        if (other !== undefined) from = Math.max(from, inside + other.length);
      }
      at = this.#next(text, from);
    }
    return result + text.slice(from);
  }
}
