import { BufferFullError, type HarnessError, RequestTimeoutError } from "../errors.ts";
import { ProtocolError } from "../protocol-error.ts";
import type { SessionCallOptions, SessionConnection, SessionWait } from "./client-session-options.ts";
import { isConnectionLoss } from "./connection-failure.ts";
import { ReconnectingConnection } from "./reconnecting-connection.ts";

/**
 * The client kernel: the calls of a client over one connection after the other. Knows no method: a client gives it `open`
 * and `introduce`.
 */
export class ClientSession<C extends SessionConnection, I> extends ReconnectingConnection<C, I> {
  #inFlight = 0;

  stats() {
    return { reconnects: this.reconnects, inFlight: this.#inFlight };
  }

  /**
   * Calls the other side over the connection in use, or the next one; `timeoutMs` is for both. A call that was sent and
   * whose connection is lost before the answer is sent again only as often as `maxAttempts` says. Rejects as the
   * connection, as `whenReady`, with `buffer_full`, and with what `beforeSend` throws.
   */
  async request(method: string, params: unknown, options: SessionCallOptions = {}): Promise<unknown> {
    const { maxInFlight = 1024, clock } = this.options;
    const { timeoutMs, signal, maxAttempts = 1 } = options;
    const startedMs = clock.elapsedMs();
    const left = (): SessionWait =>
      timeoutMs === undefined
        ? options
        : { timeoutMs: Math.max(0, timeoutMs - (clock.elapsedMs() - startedMs)), signal };
    let wait: SessionWait = options;
    let isRecovered = false;
    this.#inFlight++;
    try {
      if (this.#inFlight > maxInFlight) throw new BufferFullError("maxInFlight", maxInFlight);
      for (let sent = 1; ; sent++) {
        let { ready } = this;
        if (!ready) {
          ready = await this.whenReady(wait);
          wait = left();
        }
        const { connection } = ready;
        options.beforeSend?.();
        if (wait.timeoutMs === 0) throw new RequestTimeoutError(method, timeoutMs ?? 0);
        try {
          const result = await connection.request(method, params, wait);
          this.confirm(connection);
          return result;
        } catch (error) {
          this.failed(connection, error);
          wait = left();
          const isSentAgain = sent < maxAttempts && isConnectionLoss(error);
          if (isSentAgain) continue;
          isRecovered =
            !isRecovered && ((await this.options.recover?.(error, connection, params, wait)) ?? false);
          if (!isRecovered) throw error;
          wait = left();
        }
      }
    } catch (error) {
      throw this.options.toCallError?.(error, options) ?? error;
    } finally {
      this.#inFlight--;
    }
  }

  /** A call failed over this connection: an answer confirms it, a loss drops it. */
  failed(connection: C, error: unknown): void {
    if (ProtocolError.isInstance(error)) this.confirm(connection);
    else if (isConnectionLoss(error)) this.drop(connection, error as HarnessError);
  }
}
