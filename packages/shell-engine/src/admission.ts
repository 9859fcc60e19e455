import { type ShellAuth, ShellErrorCode, type ShellIdentity } from "@harnesskit/protocol/openharness";
import { type Clock, isThenable, RequestTimeoutError } from "@harnesskit/wire";
import { copyJson } from "./copy-json.ts";
import { HandlerFault, idTooLong, overloaded } from "./failure.ts";
import type { ResolvedLimits } from "./limits.ts";
import { ownerKey } from "./owner-key.ts";
import { RunningCall, signalOf } from "./running-call.ts";
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

const refusals = {
  unauthorized: "Other credentials are needed.",
  forbidden: "These credentials may not do this.",
} as const;

type AdmissionLimits = Pick<ResolvedLimits, "authenticateTimeoutMs" | "maxIdLength" | "maxInFlight">;
type Verdict = Awaited<ReturnType<ShellAuthenticate<unknown>>>;

/** Asks `authenticate`, or takes who the transport says it is. */
export class Admission<Context> {
  readonly #authenticate: ShellAuthenticate<Context> | undefined;
  readonly #limits: AdmissionLimits;
  readonly #clock: Clock;
  #waiting = 0;

  constructor(authenticate: ShellAuthenticate<Context> | undefined, limits: AdmissionLimits, clock: Clock) {
    this.#authenticate = authenticate;
    this.#limits = limits;
    this.#clock = clock;
  }

  /** Throws `unauthorized`, `forbidden`, `engine_overloaded`, `engine_timeout` or `invalid_request`, or what the hook throws. */
  admit(
    auth: ShellAuth | undefined,
    shell: ShellIdentity | undefined,
    context: Context,
  ): Admitted | Promise<Admitted> {
    if (this.#authenticate) return this.#ask(this.#authenticate, auth, shell, context);
    this.#assertReferences(auth);
    const principal = principalIn(context);
    return { principal, owner: ownerKey(principal, auth) };
  }

  async #ask(
    authenticate: ShellAuthenticate<Context>,
    auth: ShellAuth | undefined,
    shell: ShellIdentity | undefined,
    context: Context,
  ): Promise<Admitted> {
    if (this.#waiting >= this.#limits.maxInFlight) throw overloaded();
    const call = new RunningCall(this.#clock, this.#limits.authenticateTimeoutMs, () => signalOf(context));
    this.#waiting++;
    try {
      const asked = authenticate({
        // A copy: what the hook takes out of it is still to be kept out of logs and errors.
        auth: copyJson(auth),
        shell,
        context,
        get signal() {
          return call.signal;
        },
      });
      return this.#judge(isThenable<Verdict>(asked) ? await this.#wait(asked, call) : asked);
    } finally {
      this.#waiting--;
      call.end();
    }
  }

  /** They become a part of the keys under which requests are remembered. */
  #assertReferences(auth: ShellAuth | undefined): void {
    const { maxIdLength } = this.#limits;
    for (const name of ["tenant_id", "credential_ref"] as const) {
      if ((auth?.[name]?.length ?? 0) > maxIdLength) throw idTooLong(name);
    }
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
      const { authenticateTimeoutMs } = this.#limits;
      const takeBack = this.#clock.after(authenticateTimeoutMs, () => {
        const cause = new RequestTimeoutError("authenticate", authenticateTimeoutMs);
        call.abort(cause);
        const options = { retryable: true, cause };
        reject(new ShellEngineError(ShellErrorCode.EngineTimeout, "The engine took too long.", options));
      });
      // A promise of the platform settles once, and never with another one that is still pending.
      Promise.resolve(asked).then(
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
