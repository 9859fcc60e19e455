import type { Socket } from "node:net";
import { Slots } from "@harnesskit/wire";
import type { NodeRequest } from "./node-request.ts";

/** Characters of answers that wait for those before them, at most, and what each counts beside its body. */
const maxWaiting = 64 * 1024;
const answerOverhead = 512;

/** A connection of a server, and what is under way on it. */
export class Connection {
  readonly #socket: Socket;
  readonly #requests = new Slots<NodeRequest>();
  /** What comes behind the requests that came whole. */
  #behind: (() => void) | undefined;
  #waiting = 0;
  #isClosing = false;
  /** It is closed behind a request: nothing that comes after that is handled (RFC 9112, 9.6). */
  isEnding = false;
  /** What came that is no HTTP. */
  faults = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
    // Node closes the response that is written, and forgets those behind it.
    socket.once("close", () => this.#abortAll());
    // What was handled in this turn is answered by then. For what takes longer, a client that ended its side is gone.
    socket.once("end", () =>
      setImmediate(() => {
        if ([...this.#requests].some(({ isAnswered }) => !isAnswered)) socket.end();
      }),
    );
  }

  /** A request that came whole is not answered yet. */
  get isBusy(): boolean {
    return [...this.#requests].some(({ isWhole }) => isWhole);
  }

  /** A request was answered before it came whole, and still comes. */
  get isAnsweredEarly(): boolean {
    return [...this.#requests].some(({ isWhole, isAnswered }) => !isWhole && isAnswered);
  }

  /** How many requests are handled. */
  get underWay(): number {
    return this.#requests.size;
  }

  /** A request is handled, until the function that is returned is called, once. */
  begin(request: NodeRequest): () => void {
    const slot = this.#requests.add(request);
    return () => {
      this.#requests.remove(slot);
      this.#goOn();
    };
  }

  /**
   * An answer waits for those before it, until the function that is returned is called; undefined where there is no room. Node would take
   * it, too, and then read no more, and not see that the client goes.
   */
  waitInLine(bodyLength: number): (() => void) | undefined {
    if (this.#waiting >= maxWaiting) return undefined;
    const length = bodyLength + answerOverhead;
    this.#waiting += length;
    return () => {
      this.#waiting -= length;
    };
  }

  /** Calls `run` once all requests that came whole are answered; not where it closes before, nor where something waits already. */
  behindAnswers(run: () => void): void {
    if (this.#behind) return;
    this.#behind = run;
    this.#goOn();
  }

  /** Closes it once its requests are answered. */
  closeWhenIdle(): void {
    this.#isClosing = true;
    if (this.underWay === 0) this.#socket.destroy();
  }

  /** Tells whoever handles a request that nobody waits any longer, and cuts it. */
  destroy(): void {
    this.#abortAll();
    this.#socket.destroy();
  }

  #abortAll(): void {
    for (const request of this.#requests) request.abort();
  }

  #goOn(): void {
    const behind = this.#behind;
    if (behind) {
      if (this.isBusy) return;
      this.#behind = undefined;
      behind();
    } else if (this.#isClosing && this.underWay === 0) this.#socket.destroySoon();
  }
}
