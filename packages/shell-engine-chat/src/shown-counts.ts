const maxTurns = 10_000;

/**
 * How many messages of a resumed turn its shell was shown: the end of a turn that was resumed more than once has them all. Of a turn that
 * is not known, the end shows them again.
 */
export class ShownCounts {
  readonly #counts = new Map<string, number>();

  get(invocationId: string): number {
    return this.#counts.get(invocationId) ?? 0;
  }

  set(invocationId: string, count: number): void {
    this.#counts.delete(invocationId);
    if (count === 0) return;
    this.#counts.set(invocationId, count);
    const [oldest] = this.#counts.keys();
    if (this.#counts.size > maxTurns && oldest !== undefined) this.#counts.delete(oldest);
  }
}
