import { type ShellAuth, ShellErrorCode, type ShellIdentity } from "@harnesskit/protocol/openharness";
import { type Clock, joinKey, principalKey } from "@harnesskit/wire";
import { settleWithin } from "@harnesskit/wire/time";
import { HandlerFault, idTooLong, Thrown } from "./failure.ts";
import type { ShellEngineLimits } from "./limits.ts";
import { contextField, followSignal, signalOf } from "./shell-context.ts";
import { ShellEngineError } from "./shell-engine-error.ts";
import type { ShellAuthenticate } from "./shell-engine-options.ts";

/**
 * The owner of a request. References in `auth` that nothing has checked tell requests of one principal apart, and never join
 * those of two.
 */
const ownerKey = (principal: unknown, unchecked: ShellAuth | undefined): string => {
  const own = principalKey(principal);
  if (unchecked?.tenant_id === undefined && unchecked?.credential_ref === undefined) return own;
  return joinKey(own, unchecked.tenant_id ?? "", unchecked.credential_ref ?? "");
};

/** The sender of a request. */
export interface Admitted {
  readonly principal: unknown;
  /** One string for it. */
  readonly owner: string;
}

const refusals = {
  unauthorized: "Other credentials are needed.",
  forbidden: "These credentials may not do this.",
} as const;

type Verdict = Awaited<ReturnType<ShellAuthenticate<unknown>>>;

const assertVerdict = (verdict: Verdict): Admitted => {
  if (typeof verdict !== "object" || verdict === null) {
    throw new HandlerFault("invalid_verdict", "authenticate returns a principal or a refusal");
  }
  const { principal, refused } = verdict as { principal?: unknown; refused?: keyof typeof refusals };
  if (refused !== undefined || !("principal" in verdict)) {
    const code = refused === "forbidden" ? "forbidden" : "unauthorized";
    throw new ShellEngineError(code, refusals[code]);
  }
  return { principal, owner: ownerKey(principal, undefined) };
};

/** They become a part of the keys under which requests are remembered. */
const assertReferences = (auth: ShellAuth | undefined, maxIdLength: number): void => {
  for (const name of ["tenant_id", "credential_ref"] as const) {
    if ((auth?.[name]?.length ?? 0) > maxIdLength) throw idTooLong(name);
  }
};

export type Admit<Context> = (
  auth: ShellAuth | undefined,
  shell: ShellIdentity | undefined,
  context: Context,
) => Admitted | Promise<Admitted>;

/**
 * Asks `authenticate`, or takes the principal of the transport. Throws or rejects with `unauthorized`, `forbidden`, `engine_timeout`
 * or `invalid_request`, or with what the hook throws.
 */
export const createAdmission = <Context>(
  authenticate: ShellAuthenticate<Context> | undefined,
  { maxIdLength, authenticateTimeoutMs: timeoutMs }: ShellEngineLimits,
  clock: Clock,
): Admit<Context> => {
  if (!authenticate) {
    return (auth, _shell, context) => {
      assertReferences(auth, maxIdLength);
      const principal = contextField(context, "principal");
      return { principal, owner: ownerKey(principal, auth) };
    };
  }
  const wait = { name: "authenticate", timeoutMs, clock, holdsProcess: false };
  return async (auth, shell, context) => {
    const abort = new AbortController();
    const unfollow = followSignal(abort, signalOf(context));
    const asked = Promise.resolve({ auth, shell, context, signal: abort.signal }).then(authenticate);
    const settled = await settleWithin(asked, wait);
    unfollow();
    if (settled.status === "done") return assertVerdict(settled.value);
    if (settled.status === "failed") throw new Thrown(settled.error);
    abort.abort(settled.error);
    const options = { retryable: true, cause: settled.error };
    throw new ShellEngineError(ShellErrorCode.EngineTimeout, "The engine took too long.", options);
  };
};
