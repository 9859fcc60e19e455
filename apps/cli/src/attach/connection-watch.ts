import type { ConnectionState, ThreadClient } from "@harnesskit/thread-client";
import { CliError } from "../cli-error.ts";
import { ExitCode } from "../exit-code.ts";
import { note } from "../terminal/note.ts";

/** Who hears how the connection does. */
export interface ConnectionNotices {
  /** The connection is lost: nothing can be answered now. */
  readonly onLost: () => void;
  /** It is back. */
  readonly onBack: () => void;
  /** What to do when the server does not come back. */
  readonly comeBackHint: () => string;
}

export interface ConnectionWatchOptions extends ConnectionNotices {
  /** How long a lost server is waited for. */
  readonly retrySeconds: number;
  /** Ends the waiting. */
  readonly signal: AbortSignal;
}

/** A connection that is lost again so soon was never back: the time that was stated goes on. */
const steadyAfterMs = 5_000;

/** How long a connection that comes and goes has to hold before it counts as back. */
const settleMs = 1_000;

/** The longest that a timer can wait. */
const maxTimerMs = 2 ** 31 - 1;

/** Says on stderr when the server is lost and when it is back, and gives it up after the time that was stated. */
export class ConnectionWatch {
  readonly #client: ThreadClient;
  readonly #options: ConnectionWatchOptions;
  readonly #unwatch: () => void;
  #timer: NodeJS.Timeout | undefined;
  #lostAtMs = Number.NEGATIVE_INFINITY;
  #backAtMs = Number.NEGATIVE_INFINITY;
  #comesAndGoes = false;
  #isAway = false;
  #failure: CliError | undefined;

  constructor(client: ThreadClient, options: ConnectionWatchOptions) {
    this.#client = client;
    this.#options = options;
    this.#unwatch = client.onState((state) => this.#changed(state));
  }

  /** Why a lost server was given up. */
  get failure(): CliError | undefined {
    return this.#failure;
  }

  stop(): void {
    this.#unwatch();
    this.#stopWaiting();
  }

  #changed(state: ConnectionState): void {
    if (state === "reconnecting") this.#lost();
    else if (state === "connected") this.#back();
    else this.#stopWaiting();
  }

  #lost(): void {
    const { retrySeconds, signal, onLost } = this.#options;
    const nowMs = performance.now();
    this.#comesAndGoes = nowMs - this.#backAtMs <= steadyAfterMs;
    if (!this.#comesAndGoes) this.#lostAtMs = nowMs;
    if (!this.#isAway) {
      this.#isAway = true;
      onLost();
      say(`the connection to the server is lost; trying again for ${retrySeconds} s, Ctrl-C ends that`);
    }
    signal.addEventListener("abort", this.#interrupted, { once: true });
    // Keeps the process alive as well, which has no connection now.
    this.#wait(this.#lostAtMs + retrySeconds * 1000 - nowMs, this.#tooLong);
    if (signal.aborted) this.#interrupted();
  }

  #back(): void {
    this.#backAtMs = performance.now();
    this.#options.signal.removeEventListener("abort", this.#interrupted);
    if (this.#comesAndGoes) this.#wait(settleMs, this.#tellBack);
    else this.#tellBack();
  }

  #wait(delayMs: number, then: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(then, Math.max(0, Math.min(delayMs, maxTimerMs)));
  }

  #stopWaiting(): void {
    clearTimeout(this.#timer);
    this.#options.signal.removeEventListener("abort", this.#interrupted);
  }

  readonly #tellBack = (): void => {
    clearTimeout(this.#timer);
    this.#isAway = false;
    say("connected to the server again");
    this.#options.onBack();
  };

  readonly #tooLong = (): void => {
    const { retrySeconds, comeBackHint } = this.#options;
    this.#giveUp(
      new CliError("unavailable", `The server did not come back within ${retrySeconds} s`, {
        exitCode: ExitCode.unavailable,
        hint: comeBackHint(),
      }),
    );
  };

  readonly #interrupted = (): void => {
    const { comeBackHint } = this.#options;
    this.#giveUp(
      new CliError("cancelled", "Cancelled while the server was away", {
        exitCode: ExitCode.interrupted,
        hint: comeBackHint(),
      }),
    );
  };

  #giveUp(failure: CliError): void {
    this.#failure ??= failure;
    void this.#client.close();
  }
}

/** Says on stderr how the connection does. */
export const say = (text: string): void => {
  note(`harness: ${text}`);
};
