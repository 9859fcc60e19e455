import { type ShellAuth, ShellErrorCode, type ShellIdentity } from "@harnesskit/protocol/openharness";
import { type Clock, isThenable, RequestTimeoutError } from "@harnesskit/wire";
import { HandlerFault } from "./failure.ts";
import { ownerKey } from "./owner-key.ts";
import { RunningCall } from "./running-call.ts";
import { ShellEngineError } from "./shell-engine-error.ts";
import type { ShellAuthenticate } from "./shell-engine-options.ts";

/** Who asks. */
export interface Admitted {
  readonly principal: unknown;
  /** One text for it. */
  readonly owner: string;
}

const principalIn = (context: unknown): unknown =>
  typeof context === "object" && context !== null
    ? (context as { principal?: unknown }).principal
    : undefined;

const signalIn = (context: unknown): AbortSignal | undefined => {
  const signal =
    typeof context === "object" && context !== null ? (context as { signal?: unknown }).signal : undefined;
  return signal instanceof AbortSignal ? signal : undefined;
};

const refusals = {
  unauthorized: "Other credentials are needed.",
  forbidden: "These credentials may not do this.",
} as const;

type Verdict = Awaited<ReturnType<ShellAuthenticate<unknown>>>;

/** Asks `authenticate`, or takes who the transport says it is. */
export class Admission<Context> {
  readonly #authenticate: ShellAuthenticate<Context> | undefined;
  readonly #timeoutMs: number;
  readonly #clock: Clock;

  constructor(authenticate: ShellAuthenticate<Context> | undefined, timeoutMs: number, clock: Clock) {
    this.#authenticate = authenticate;
    this.#timeoutMs = timeoutMs;
    this.#clock = clock;
  }

  /** Throws `unauthorized`, `forbidden` or `engine_timeout`, or what the hook throws. */
  async admit(
    auth: ShellAuth | undefined,
    shell: ShellIdentity | undefined,
    context: Context,
  ): Promise<Admitted> {
    const authenticate = this.#authenticate;
    if (!authenticate) {
      const principal = principalIn(context);
      return { principal, owner: ownerKey(principal, auth) };
    }
    const call = new RunningCall(this.#clock, this.#timeoutMs, () => signalIn(context));
    const asked = authenticate({
      auth,
      shell,
      context,
      get signal() {
        return call.signal;
      },
    });
    return this.#judge(isThenable<Verdict>(asked) ? await this.#wait(asked, call) : asked);
  }

  #judge(verdict: Verdict): Admitted {
    if (typeof verdict !== "object" || verdict === null) {
      throw new HandlerFault("invalid_verdict", "authenticate returns a principal or a refusal");
    }
    const { principal, refused } = verdict as { principal?: unknown; refused?: keyof typeof refusals };
    if (refused !== undefined || !("principal" in verdict)) {
      const code = refused === "forbidden" ? "forbidden" : "unauthorized";
      throw new ShellEngineError(code, refusals[code]);
    }
    return { principal, owner: ownerKey(principal, undefined) };
  }

  #wait(asked: PromiseLike<Verdict>, call: RunningCall): Promise<Verdict> {
    return new Promise((resolve, reject) => {
      const takeBack = this.#clock.after(this.#timeoutMs, () => {
        const cause = new RequestTimeoutError("authenticate", this.#timeoutMs);
        call.abort(cause);
        const options = { retryable: true, cause };
        reject(new ShellEngineError(ShellErrorCode.EngineTimeout, "The engine took too long.", options));
      });
      asked.then(
        (verdict) => {
          takeBack();
          resolve(verdict);
        },
        (reason: unknown) => {
          takeBack();
          reject(reason);
        },
      );
    });
  }
}
