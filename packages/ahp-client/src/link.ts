import type { HandshakeParams, HandshakeResult } from "@harnesskit/protocol/ahp";
import { type Clock, createDeferred, type Deferred } from "@harnesskit/wire";
import { Ending } from "./ending.ts";
import {
  AhpFailure,
  AhpUsageError,
  type FailureCode,
  isLoss,
  toFailure,
  toLineFailure,
  toOpenFailure,
} from "./errors.ts";
import { shakeHands } from "./handshake.ts";
import type { Line, LineSource } from "./line.ts";
import { Attempts, type ReconnectPolicy } from "./reconnect.ts";
import { SharedRun } from "./shared-run.ts";
import { within } from "./within.ts";

/**
 * `new` until a handshake succeeds; `ready`; `reconnecting` from a loss until the next handshake; `lost` when no further
 * attempt is made (`handshake()` begins anew); `closed`.
 */
export type ClientState = "new" | "ready" | "reconnecting" | "lost" | "closed";

export interface LinkOptions {
  readonly source: LineSource;
  readonly policy: ReconnectPolicy | undefined;
  readonly clock: Clock;
  readonly params: HandshakeParams;
  readonly handshakeTimeoutMs: () => number;
  /** Told of each change, after it. Must not throw. */
  readonly onState: (state: ClientState) => void;
}

export interface WaitOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** A line with the handshake that succeeded over it; another object for each handshake. */
export interface ReadyLine {
  readonly line: Line;
  readonly harness: HandshakeResult;
}

/** Errors that another attempt cannot mend. */
const isFinal = ({ code }: AhpFailure): boolean => code === "version_mismatch" || code === "unauthorized";

const closedFailure = () => new AhpFailure("closed", "the client is closed");

/** A harness that refused the handshake, or answered it with nonsense, is there. */
const answers: ReadonlySet<FailureCode> = new Set([
  "unauthorized",
  "harness_error",
  "invalid_answer",
  "version_mismatch",
]);

/** There is no line to use. The code is that of the last attempt where the harness was reached by it. */
const unreachable = (text: string, cause: AhpFailure | undefined): AhpFailure =>
  new AhpFailure(
    cause && answers.has(cause.code) ? cause.code : "unreachable",
    cause ? `${text}: ${cause.message}` : text,
    { cause },
  );

/** One line after the other, each with its handshake, as far as the policy goes. */
export class Link {
  readonly #options: LinkOptions;
  readonly #attempts: Attempts | undefined;
  readonly #introduction = new SharedRun<HandshakeResult>();
  readonly #end = new Ending();
  #state: ClientState = "new";
  #line: Line | undefined;
  /** The line over which hands are shaken, or were last. */
  #introducing: Line | undefined;
  #ready: ReadyLine | undefined;
  #readySince = 0;
  #harness: HandshakeResult | undefined;
  /** Settles when the reconnecting is over, however. */
  #mended: Deferred<void> | undefined;
  #why: AhpFailure | undefined;
  #reconnects = 0;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#attempts = options.source.reopens && options.policy ? new Attempts(options.policy) : undefined;
  }

  get state(): ClientState {
    return this.#state;
  }

  /** What the last handshake that succeeded brought. */
  get harness(): HandshakeResult | undefined {
    return this.#harness;
  }

  /** Connections that were made after the first. */
  get reconnects(): number {
    return this.#reconnects;
  }

  /** The line in use; undefined while there is none. */
  get ready(): ReadyLine | undefined {
    return this.#ready;
  }

  /** Throws `handshake_required` before the first handshake that succeeded. */
  assertIntroduced(): void {
    if (this.#harness) return;
    throw new AhpUsageError("handshake_required", "a handshake has to succeed before anything else is sent");
  }

  /** Opens a line if there is none, and shakes hands over it. Rejects with an {@link AhpFailure}. */
  async handshake(options: WaitOptions): Promise<HandshakeResult> {
    if (this.#state === "closed") throw closedFailure();
    if (this.#state === "reconnecting") return (await this.whenReady(options)).harness;
    if (this.#state === "lost") this.#attempts?.reset();
    return this.#introduced(options);
  }

  /** The line in use, or the next one. Rejects with an {@link AhpFailure} when none comes in time. */
  async whenReady({ timeoutMs, signal }: WaitOptions): Promise<ReadyLine> {
    const { clock } = this.#options;
    const deadline = clock.now() + timeoutMs;
    while (!this.#ready && this.#mended) {
      const mended = this.#mended.promise;
      const left = { clock, name: "a connection", timeoutMs: Math.max(0, deadline - clock.now()) };
      await within(() => mended, { ...left, signal }).catch((error: unknown) => {
        const failure = toFailure(error);
        if (failure.code !== "timeout") throw failure;
        throw unreachable("no connection to the harness came about in time", this.#why ?? failure);
      });
    }
    if (this.#ready) return this.#ready;
    if (this.#state === "closed") throw closedFailure();
    throw unreachable("there is no connection to the harness", this.#why);
  }

  /** The harness knows no handshake of this agent (any more): shakes hands again, unless that was done meanwhile. */
  async renew(ready: ReadyLine, options: WaitOptions): Promise<void> {
    if (this.#ready === ready) await this.handshake(options);
  }

  /** A call found out that the line is of no use. */
  abandon(line: Line, why: AhpFailure): void {
    if (this.#line !== line) return;
    this.#lost(why);
    line.discard();
  }

  /** The harness answered a call over this line. */
  answered(line: Line): void {
    if (this.#line === line) this.#attempts?.reset();
  }

  /** Settles what waits, at once. Idempotent. */
  async close(): Promise<void> {
    if (this.#state !== "closed") {
      this.#line = undefined;
      this.#ready = undefined;
      this.#why = closedFailure();
      this.#to("closed");
      this.#end.end();
    }
    await this.#options.source.close().catch(() => {});
  }

  async #introduced(options: WaitOptions): Promise<HandshakeResult> {
    const { clock, handshakeTimeoutMs } = this.#options;
    const { timeoutMs, signal } = options;
    const longestMs = Math.max(timeoutMs, handshakeTimeoutMs());
    const run = (stop: AbortSignal) => this.#introduce({ timeoutMs: longestMs, signal: stop });
    try {
      return await this.#introduction.join(run, {
        clock,
        name: "ahp/handshake",
        timeoutMs,
        signal,
        end: this.#end,
      });
    } catch (error) {
      if (this.#state === "closed") throw closedFailure();
      throw toLineFailure(error, this.#introducing, 0);
    }
  }

  async #introduce({ timeoutMs, signal }: WaitOptions): Promise<HandshakeResult> {
    const { clock, params } = this.#options;
    const deadline = clock.now() + timeoutMs;
    this.#introducing = undefined;
    const line = this.#ready?.line ?? (await this.#open({ timeoutMs, signal }));
    this.#introducing = line;
    try {
      const leftMs = Math.max(1, deadline - clock.now());
      const harness = await shakeHands(line, params, { timeoutMs: leftMs, signal });
      if (this.#line !== line) throw unreachable("the connection is lost", this.#why);
      this.#harness = harness;
      this.#ready = { line, harness };
      if (this.#state !== "ready") this.#readySince = clock.now();
      this.#to("ready");
      return harness;
    } catch (error) {
      const failure = toFailure(error);
      this.#notIntroduced(line, failure);
      throw failure;
    }
  }

  /** A former handshake stays in force over a line that is of use still. */
  #notIntroduced(line: Line, failure: AhpFailure): void {
    const isOfUse = this.#ready?.line === line && !isLoss(failure) && failure.code !== "version_mismatch";
    if (isOfUse) return;
    if (this.#line === line) this.#lost(failure);
    line.discard();
  }

  async #open({ timeoutMs, signal }: WaitOptions): Promise<Line> {
    const { source, clock } = this.#options;
    let line: Line | undefined;
    let isOver = false;
    const onOver = (error: unknown) => {
      isOver = true;
      if (line && this.#line === line) this.#lost(toFailure(error ?? lostFailure()));
    };
    try {
      line = await within(({ signal: giveUp }) => source.open(giveUp, onOver), {
        clock,
        name: "connecting",
        timeoutMs,
        signal,
        end: this.#end,
        onLate: (late) => late.discard(),
      });
    } catch (error) {
      throw toOpenFailure(error);
    }
    if (this.#state === "closed" || isOver) {
      line.discard();
      throw isOver ? lostFailure() : closedFailure();
    }
    this.#line = line;
    return line;
  }

  #lost(why: AhpFailure): void {
    this.#line = undefined;
    this.#ready = undefined;
    this.#why = why;
    if (this.#state !== "ready") return;
    const attempts = this.#attempts;
    if (attempts) {
      attempts.lasted(this.#options.clock.now() - this.#readySince);
      this.#mended = createDeferred<void>();
      this.#to("reconnecting");
      void this.#reconnect(attempts);
    } else this.#to("lost");
  }

  async #reconnect(attempts: Attempts): Promise<void> {
    for (let delayMs = attempts.next(); delayMs !== undefined; delayMs = attempts.next()) {
      await this.#pause(delayMs);
      if (this.#state !== "reconnecting") return;
      try {
        await this.#introduced({ timeoutMs: this.#options.handshakeTimeoutMs() });
        return;
      } catch (error) {
        if (this.#state !== "reconnecting") return;
        this.#why = toFailure(error);
        if (isFinal(this.#why)) break;
      }
    }
    this.#to("lost");
  }

  /** Waits, as a connection would keep the process alive, and no longer than until the client is closed. */
  async #pause(delayMs: number): Promise<void> {
    const over = createDeferred<void>();
    const onOver = () => over.resolve();
    const cancel = this.#options.clock.after(delayMs, onOver, true);
    const unlisten = this.#end.listen(onOver);
    await over.promise;
    cancel();
    unlisten();
  }

  #to(state: ClientState): void {
    if (state === this.#state) return;
    if (this.#state === "reconnecting" && state === "ready") this.#reconnects++;
    this.#state = state;
    if (state !== "reconnecting") {
      this.#mended?.resolve();
      this.#mended = undefined;
    }
    this.#options.onState(state);
  }
}

const lostFailure = (): AhpFailure => new AhpFailure("connection_lost", "the connection is lost");
