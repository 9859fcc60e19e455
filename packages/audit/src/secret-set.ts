/** Known texts that are taken out of others. */
export class SecretSet {
  /** A shorter secret cannot be distinguished from other strings. */
  static readonly minLength = 4;
  /** Every secret, and how often it was added. */
  readonly #uses = new Map<string, number>();
  /** Characters of the longest that was ever added. */
  longest = 0;

  add(secret: string): void {
    this.#uses.set(secret, (this.#uses.get(secret) ?? 0) + 1);
    this.longest = Math.max(this.longest, secret.length);
  }

  /** Takes back one `add`. */
  delete(secret: string): void {
    const uses = this.#uses.get(secret) ?? 0;
    if (uses > 1) this.#uses.set(secret, uses - 1);
    else this.#uses.delete(secret);
  }

  /** The string with every secret replaced, those that overlap as one; the same string where it holds none. */
  replace(text: string, replacement: string): string {
    const found: { readonly from: number; readonly to: number }[] = [];
    for (const secret of this.#uses.keys()) {
      for (let from = text.indexOf(secret); from !== -1; from = text.indexOf(secret, from + 1))
        found.push({ from, to: from + secret.length });
    }
    if (found.length === 0) return text;
    found.sort((a, b) => a.from - b.from);
    let result = "";
    let end = 0;
    for (const { from, to } of found) {
      if (from >= end) result += text.slice(end, from) + replacement;
      end = Math.max(end, to);
    }
    return result + text.slice(end);
  }
}
