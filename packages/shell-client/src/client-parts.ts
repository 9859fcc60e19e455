import {
  type Capabilities,
  type CapabilityDenial,
  createActionRegistry,
} from "@harnesskit/protocol/openharness";
import {
  callSafely,
  checkNumber,
  InvalidArgumentError,
  randomId,
  resolveBackoff,
  systemClock,
} from "@harnesskit/wire";
import { toEngine } from "./engine.ts";
import { shellClientLimits } from "./limits.ts";
import { checkRetry } from "./option-names.ts";
import { resolveRules } from "./risk.ts";
import { SessionState } from "./session-state.ts";
import { capabilitiesOf, resolveExecutors, shellIdentity } from "./shell-capabilities.ts";
import type { AuthReferences, ShellClientOptions } from "./shell-client-options.ts";
import type { DirectiveResult, ShellDiagnostic } from "./shell-outcome.ts";
import type { ShellStreamEvent } from "./streaming/stream-events.ts";

const references: ReadonlySet<string> = new Set(["tenant_id", "credential_ref", "session_id"]);

/** Credentials belong into the transport (section 7). */
const assertReferences = (auth: AuthReferences = {}): void => {
  for (const key of Object.keys(auth)) {
    if (references.has(key)) continue;
    throw new InvalidArgumentError(`auth has references alone (${[...references].join(", ")}), not ${key}`);
  }
};

/** What all calls of a client share: its options with their defaults. Its functions must not throw. Throws `invalid_argument`. */
export const clientParts = (options: ShellClientOptions) => {
  const { clock = systemClock, createId = randomId, timeoutMs = 60_000 } = options;
  const { actionTypes = [], approve, auth, onStream, session = { sessionId: createId("sess") } } = options;
  const executors = resolveExecutors(options.executors);
  checkNumber("timeoutMs", timeoutMs);
  assertReferences(auth);
  for (const [name, given] of Object.entries({ approve, onStream })) {
    if (given === undefined || typeof given === "function") continue;
    throw new InvalidArgumentError(`${name} must be a function`);
  }
  const diagnose = (diagnostic: ShellDiagnostic) => callSafely(() => options.onDiagnostic?.(diagnostic));
  const engine = toEngine(options.engine, diagnose);
  const canStream = onStream !== undefined && engine.canStream;
  const able = { canAsk: approve !== undefined, executors, actionTypes, canStream };
  const capabilities: Capabilities = Object.freeze(capabilitiesOf(options.capabilities ?? {}, able));
  return {
    engine,
    session: new SessionState(session),
    shell: shellIdentity(options.shell),
    capabilities,
    auth,
    executors,
    registry: createActionRegistry(actionTypes),
    rules: resolveRules(options.approvalPolicy),
    approve,
    answersApprovals: options.answerApprovals ?? true,
    backoff: resolveBackoff(checkRetry(options.retry ?? {}), {
      maxAttempts: 5,
      initialDelayMs: 500,
      prefix: "retry.",
    }),
    timeoutMs,
    limits: shellClientLimits.resolve(options.limits),
    clock,
    createId,
    onStream: canStream ? (event: ShellStreamEvent) => callSafely(() => onStream(event)) : undefined,
    onDenials: (denials: readonly CapabilityDenial[]) => callSafely(() => options.onDenials?.(denials)),
    onResult: (result: DirectiveResult) => callSafely(() => options.onResult?.(result)),
    diagnose,
  };
};
export type ClientParts = ReturnType<typeof clientParts>;
