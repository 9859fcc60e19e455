import {
  type AhpClient,
  type ClientState,
  createAhpClient,
  type FullEvent,
  type HarnessEndpoint,
} from "@harnesskit/ahp-client";
import type { BlockingEventType, Decision, NotificationEventType } from "@harnesskit/protocol/ahp";
import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import {
  backoffDelayMs,
  type Clock,
  createDeferred,
  HarnessError,
  resolveBackoff,
  systemClock,
  wait,
} from "@harnesskit/wire";
import { oneLine } from "../terminal/one-line.ts";

export interface HarnessLinkOptions {
  readonly endpoint: HarnessEndpoint;
  /** Of this program. */
  readonly version: string;
  /** Told in one safe line what becomes of the harness. */
  readonly note: (line: string) => void;
  /** Ends a harness that is a child of ours and does not answer. @default nothing can be done */
  readonly restart?: (() => void) | undefined;
  /** How long a decision may take; the first one includes the harness's start. @default 10000 */
  readonly timeoutMs?: number;
  /** How long after its loss actions wait for a harness that was there. @default 2000 */
  readonly awayMs?: number;
  /** @default the real time */
  readonly clock?: Clock;
}

/** An event before it has its session's time and sender. */
export interface LinkEvent {
  readonly session: string;
  readonly payload: JsonObject;
  readonly metadata?: JsonObject;
}

/** The harness's answer, or why there is none. */
export type LinkAnswer =
  | { readonly decision: Decision }
  | { readonly failure: "timeout" | "unavailable" | "unsendable" | "cancelled"; readonly why: string };

const agentId = "harness";

/** Reports that are kept until the first handshake. */
const maxEarly = 1000;
/** In a row, after which a child is taken for hung. */
const maxTimeouts = 2;
/** How long the end waits for reports to leave. */
const flushTimeoutMs = 500;

const delays = { initialDelayMs: 100, maxDelayMs: 5_000, maxAttempts: Number.POSITIVE_INFINITY };
const backoff = resolveBackoff(delays, { maxAttempts: delays.maxAttempts, initialDelayMs: 100 });

/** The way to one harness, made again for as long as it is wanted. Without it nothing is allowed. */
export class HarnessLink {
  readonly #options: HarnessLinkOptions;
  readonly #client: AhpClient;
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #closing = new AbortController();
  readonly #early: (() => void)[] = [];
  #ready = createDeferred<void>();
  #isReady = false;
  #wasReady = false;
  #timeouts = 0;
  #leftAt = 0;
  #why = "it has not answered yet";

  constructor(options: HarnessLinkOptions) {
    const { endpoint, version, clock = systemClock, timeoutMs = 10_000 } = options;
    this.#options = options;
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#client = createAhpClient({
      ...endpoint,
      framework: "harness-serve",
      version,
      agentId,
      clock,
      deadlines: { gate: timeoutMs, handshake: timeoutMs },
      reconnect: delays,
      onState: (state) => this.#changed(state),
    });
  }

  /** What the harness calls itself. */
  get harnessName(): string | undefined {
    return this.#client.harness?.harness_info.name;
  }

  /** Connects, again and again until it succeeds. */
  start(): void {
    void this.#introduce();
  }

  /** Settles when the harness can be asked, or is not there in time. */
  async whenReady(): Promise<void> {
    await this.#whenReady(this.#closing.signal);
  }

  /** Asks about an event. Never rejects; whatever fails is no decision. */
  async decide(
    eventType: "pre_action" | "pre_prompt",
    event: LinkEvent,
    signal: AbortSignal,
  ): Promise<LinkAnswer> {
    if (!(await this.#whenReady(signal))) {
      return signal.aborted
        ? { failure: "cancelled", why: "it is not wanted any more" }
        : { failure: "unavailable", why: this.#why };
    }
    try {
      const verdict = await this.#client.sendFull(this.#toEvent(eventType, event), { signal });
      if (verdict.origin === "harness") {
        this.#timeouts = 0;
        return { decision: verdict.decision as Decision };
      }
      return this.#failed(verdict.code, verdict.error.message);
    } catch (error) {
      return { failure: "unsendable", why: describe(error) };
    }
  }

  /** Tells the harness, as soon as there is one; of too many early ones the first are lost. */
  notify(eventType: NotificationEventType, event: LinkEvent): void {
    const full = this.#toEvent(eventType, event);
    const send = () => {
      try {
        this.#client.notifyFull(full as FullEvent<NotificationEventType>);
      } catch (error) {
        this.#options.note(`a report could not be sent: ${describe(error)}`);
      }
    };
    if (this.#wasReady) send();
    else if (this.#early.push(send) > maxEarly) this.#early.shift();
  }

  /** Sends what waits, within limits, and ends a harness that is a child. */
  async close(): Promise<void> {
    this.#closing.abort();
    if (this.#isReady) await this.#client.flush({ timeoutMs: flushTimeoutMs });
    await this.#client.close();
  }

  #toEvent<T extends BlockingEventType | NotificationEventType>(
    eventType: T,
    { session, payload, metadata }: LinkEvent,
  ): FullEvent<T> {
    return {
      event_type: eventType,
      session_id: session,
      agent_id: agentId,
      timestamp: new Date(this.#clock.now()).toISOString(),
      depth: 0,
      payload: payload as JsonValue,
      ...(metadata && { metadata }),
    } as FullEvent<T>;
  }

  #failed(code: string, message: string): LinkAnswer {
    const why = `${oneLine(message, 300)} (${code})`;
    if (code === "cancelled") return { failure: "cancelled", why };
    if (code === "unsendable") return { failure: "unsendable", why };
    if (code !== "timeout") return { failure: "unavailable", why };
    if (++this.#timeouts >= maxTimeouts && this.#options.restart) {
      this.#timeouts = 0;
      this.#options.note("the policy harness does not answer: it is ended and started again");
      this.#options.restart();
    }
    return { failure: "timeout", why };
  }

  async #introduce(): Promise<void> {
    const { signal } = this.#closing;
    for (let attempt = 1; !signal.aborted; attempt++) {
      try {
        await this.#client.handshake();
        return;
      } catch (error) {
        if (signal.aborted) return;
        this.#why = describe(error);
        if (attempt === 1)
          this.#options.note(`the policy harness cannot be reached: ${this.#why}; ${closed}`);
        await wait(backoffDelayMs(attempt, backoff), this.#clock, signal);
      }
    }
  }

  #changed(state: ClientState): void {
    if (state === "ready") this.#arrived();
    else if (this.#isReady) this.#left();
    if (state === "lost") void this.#introduce();
  }

  #arrived(): void {
    if (this.#wasReady && !this.#isReady) this.#options.note("the policy harness answers again");
    this.#isReady = true;
    this.#wasReady = true;
    // The state is told before the handshake's caller hears of it, and a report needs no answer.
    queueMicrotask(() => {
      for (const send of this.#early.splice(0)) send();
      this.#ready.resolve();
    });
  }

  #left(): void {
    this.#isReady = false;
    this.#leftAt = this.#clock.now();
    this.#ready = createDeferred<void>();
    this.#why = "it has ended, or the connection to it is lost";
    if (this.#closing.signal.aborted) return;
    this.#options.note(`the policy harness is away, and is tried again; ${closed}`);
  }

  /** False where it did not come in time, or nobody waits any more. */
  async #whenReady(signal: AbortSignal): Promise<boolean> {
    if (this.#isReady) {
      await this.#ready.promise;
      return true;
    }
    const over = new AbortController();
    const either = AbortSignal.any([signal, over.signal, this.#closing.signal]);
    const late = wait(this.#patienceMs(), this.#clock, either);
    await Promise.race([this.#ready.promise, late]);
    over.abort();
    return this.#isReady && !signal.aborted;
  }

  /** How long an action waits for the harness to be there. */
  #patienceMs(): number {
    if (!this.#wasReady) return this.#timeoutMs;
    const { awayMs = 2000 } = this.#options;
    return Math.max(0, this.#leftAt + Math.min(awayMs, this.#timeoutMs) - this.#clock.now());
  }
}

const closed = "until it answers nothing is allowed";

const describe = (error: unknown): string => {
  const code = HarnessError.isInstance(error) ? ` (${error.code})` : "";
  return `${oneLine(error instanceof Error ? error.message : String(error), 300)}${code}`;
};
