import type {
  ActionRegistry,
  Capabilities,
  CapabilityDenial,
  ShellIdentity,
} from "@harnesskit/protocol/openharness";
import type { Backoff, Clock, CreateId } from "@harnesskit/wire";
import type { Engine } from "./engine.ts";
import type { ShellClientLimits } from "./limits.ts";
import type { TierRules } from "./risk.ts";
import type { SessionState } from "./session-state.ts";
import type { Executors } from "./shell-capabilities.ts";
import type { AuthReferences, ShellClientOptions } from "./shell-client-options.ts";
import type { DirectiveResult, ShellDiagnostic } from "./shell-outcome.ts";
import type { ShellStreamEvent } from "./streaming/stream-events.ts";

/** What all calls of a client share. Its functions must not throw. */
export interface ClientParts {
  readonly engine: Engine;
  readonly session: SessionState;
  readonly shell: ShellIdentity;
  readonly capabilities: Capabilities;
  readonly auth: AuthReferences | undefined;
  readonly executors: Executors;
  readonly registry: ActionRegistry;
  readonly rules: TierRules;
  readonly approve: ShellClientOptions["approve"];
  /** Whether the engine's questions are asked at once. */
  readonly answersApprovals: boolean;
  readonly backoff: Backoff;
  readonly timeoutMs: number;
  readonly limits: ShellClientLimits;
  readonly clock: Clock;
  readonly createId: CreateId;
  /** Set where responses may be streams: receives what is known before they are there. */
  readonly onStream: ((event: ShellStreamEvent) => void) | undefined;
  readonly onDenials: (denials: readonly CapabilityDenial[]) => void;
  readonly onResult: (result: DirectiveResult) => void;
  readonly diagnose: (diagnostic: ShellDiagnostic) => void;
}
