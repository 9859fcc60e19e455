/** Resumed turns whose ends somebody is about to tell, or has told and not yet noted: by invocation, how many do. */
export class Telling {
  readonly #counts = new Map<string, number>();

  has(invocationId: string): boolean {
    return this.#counts.has(invocationId);
  }

  begin(invocationId: string): void {
    this.#counts.set(invocationId, (this.#counts.get(invocationId) ?? 0) + 1);
  }

  end(invocationId: string): void {
    const others = (this.#counts.get(invocationId) ?? 1) - 1;
    if (others > 0) this.#counts.set(invocationId, others);
    else this.#counts.delete(invocationId);
  }
}
