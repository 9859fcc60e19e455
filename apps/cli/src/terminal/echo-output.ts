import { Writable } from "node:stream";

/** What a line editor writes to a terminal: its echo, which is not shown while something else has the screen. */
export class EchoOutput extends Writable {
  readonly isTTY = true;
  isShown = true;
  readonly #terminal: NodeJS.WriteStream;

  constructor(terminal: NodeJS.WriteStream) {
    super();
    this.#terminal = terminal;
    terminal.on("resize", this.#onResize);
  }

  readonly #onResize = () => this.emit("resize");

  get columns(): number {
    return this.#terminal.columns;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (this.isShown) this.#terminal.write(chunk);
    done();
  }

  override _final(done: () => void): void {
    this.#terminal.off("resize", this.#onResize);
    done();
  }
}
