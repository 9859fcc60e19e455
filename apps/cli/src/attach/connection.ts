import { createThreadClient, type SessionState, type ThreadClient } from "@harnesskit/thread-client";
import type { HarnessError, Transport } from "@harnesskit/wire";
import { maxTimerMs } from "@harnesskit/wire/time";
import { CliError, ExitCode } from "../cli-error.ts";
import { comeBackHint, startHint, toAbsence } from "../run/failures.ts";
import { note } from "../terminal/terminal.ts";

const defaultRetrySeconds = 60;

export interface WithServerOptions {
  readonly transport: Transport;
  readonly clientInfo: { readonly name: string; readonly version: string };
  /** The endpoint of a server that others use as well; undefined for one that ends with its connection. */
  readonly endpoint: string | undefined;
  /** How long it is tried again, in seconds; then one that is not there yet is waited for, too. @default 60 */
  readonly retryFor: number | undefined;
  readonly signal: AbortSignal;
  readonly onError: (error: HarnessError) => void;
  readonly onLost: () => void;
  readonly onBack: () => void;
  /** The thread to go on with, once it is known. */
  readonly threadId: () => string | undefined;
}

const retrySecondsOf = ({ endpoint, retryFor = defaultRetrySeconds }: WithServerOptions): number =>
  endpoint === undefined ? 0 : retryFor;

const requestTimeoutMs = 20_000;

/** A connection that is lost again so soon counts as never restored: the stated time continues, and after a few times nothing is said. */
const steadyAfterMs = 5_000;
const maxToldLosses = 3;

const say = (text: string): void => note(`harness: ${text}`);

/** Says on stderr when the server is away and when it is there, and gives up after the stated time. */
class ConnectionWatch {
  readonly #client: ThreadClient;
  readonly #options: WithServerOptions;
  readonly #unwatch: () => void;
  #timer: NodeJS.Timeout | undefined;
  #lostAtMs = Number.NEGATIVE_INFINITY;
  #backAtMs = Number.NEGATIVE_INFINITY;
  #losses = 0;
  #wasThere = false;
  #isAway = false;
  #failure: CliError | undefined;

  constructor(client: ThreadClient, options: WithServerOptions) {
    this.#client = client;
    this.#options = options;
    this.#unwatch = client.onState((state) => this.#changed(state));
  }

  get failure(): CliError | undefined {
    return this.#failure;
  }

  get #retrySeconds(): number {
    return retrySecondsOf(this.#options);
  }

  /** The first contact. A shared server that is lost in it, or that is to be waited for, is tried again as a lost one is. */
  async connect(): Promise<void> {
    const { endpoint, retryFor, signal } = this.#options;
    try {
      await this.#client.connect({ signal });
    } catch (error) {
      const absence = endpoint === undefined ? undefined : toAbsence(error, endpoint);
      if (!absence) throw error;
      const { kind, failure } = absence;
      const isWaitedFor = this.#retrySeconds > 0 && (kind === "lost" || retryFor !== undefined);
      if (!isWaitedFor) throw failure;
      this.#lost(kind === "lost" ? "the connection to the server is lost" : failure.message);
      await this.#client.connect({ retry: true });
    }
    this.#wasThere = true;
  }

  stop(): void {
    this.#unwatch();
    this.#stopWaiting();
  }

  #changed(state: SessionState): void {
    if (state === "reconnecting") this.#lost("the connection to the server is lost");
    else if (state === "ready") this.#back();
    else if (state !== "connecting") this.#stopWaiting();
  }

  #lost(what: string): void {
    const { signal, onLost } = this.#options;
    if (this.#isAway) return;
    this.#isAway = true;
    onLost();
    const nowMs = performance.now();
    if (nowMs - this.#backAtMs > steadyAfterMs) {
      this.#lostAtMs = nowMs;
      this.#losses = 0;
    }
    if (++this.#losses <= maxToldLosses)
      say(`${what}; trying again for ${this.#retrySeconds} s, Ctrl-C to stop`);
    signal.addEventListener("abort", this.#interrupted, { once: true });
    const leftMs = this.#lostAtMs + this.#retrySeconds * 1000 - nowMs;
    // Keeps the process alive as well, which has no connection now.
    this.#timer = setTimeout(this.#tooLong, Math.max(0, Math.min(leftMs, maxTimerMs)));
    if (signal.aborted) this.#interrupted();
  }

  #back(): void {
    if (!this.#isAway) return;
    this.#stopWaiting();
    this.#isAway = false;
    this.#backAtMs = performance.now();
    if (this.#losses <= maxToldLosses) say(`connected to the server${this.#wasThere ? " again" : ""}`);
    this.#options.onBack();
  }

  #stopWaiting(): void {
    clearTimeout(this.#timer);
    this.#options.signal.removeEventListener("abort", this.#interrupted);
  }

  readonly #tooLong = (): void => {
    const message = `The server did not come ${this.#wasThere ? "back " : ""}within ${this.#retrySeconds} s`;
    this.#giveUp("unavailable", message, ExitCode.unavailable);
  };

  readonly #interrupted = (): void =>
    this.#giveUp("cancelled", "Cancelled while the server was away", ExitCode.interrupted);

  #giveUp(code: string, message: string, exitCode: ExitCode): void {
    const { endpoint = "", threadId } = this.#options;
    const id = this.#wasThere ? threadId() : undefined;
    const hint = id === undefined ? startHint(endpoint) : comeBackHint(endpoint, id);
    this.#failure ??= new CliError(code, message, { exitCode, hint });
    void this.#client.close();
  }
}

/**
 * Connects, lets `use` work, and closes. A connection that is lost, the first one included, is made anew for a time.
 * Rejects with what `use` rejects with, and with a `CliError` `unavailable` or `cancelled` when a server was given up.
 */
export const withServer = async <T>(
  options: WithServerOptions,
  use: (client: ThreadClient) => Promise<T>,
): Promise<T> => {
  const { transport, clientInfo, endpoint, signal, onError } = options;
  const isShared = endpoint !== undefined;
  const client = createThreadClient({
    transport,
    clientInfo,
    onError,
    requestTimeoutMs: isShared ? requestTimeoutMs : undefined,
    reconnect: retrySecondsOf(options) > 0 && {
      maxAttempts: Number.POSITIVE_INFINITY,
      initialDelayMs: 200,
      maxDelayMs: 2_000,
    },
  });
  const watch = new ConnectionWatch(client, options);
  try {
    await watch.connect();
    return await use(client);
  } catch (error) {
    throw watch.failure ?? error;
  } finally {
    watch.stop();
    const closed = client.close();
    // After Ctrl-C a server that hangs is not waited for.
    if (!isShared || !signal.aborted) await closed;
  }
};
