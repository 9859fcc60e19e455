/** How many messages of a server are being handled, and how many may be. */
export class Load {
  readonly max: number;
  pending = 0;

  constructor(max: number) {
    this.max = max;
  }

  get isFull(): boolean {
    return this.pending >= this.max;
  }
}
