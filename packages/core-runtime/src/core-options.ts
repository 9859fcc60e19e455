import type { AuditSink, Redactor } from "@harnesskit/audit";
import type { HarnessError } from "@harnesskit/wire";
import type { Clock } from "@harnesskit/wire/time";
import type { Authorize } from "./authorize.ts";
import type { CoreLimits, CoreTimes } from "./core-limits.ts";
import type { GrantStore } from "./permissions/grants.ts";

/** Options of a core. */
export interface CoreOptions extends Partial<CoreTimes> {
  /**
   * What the operator granted, beyond what every agent may do: tools without side effects that need no permission but
   * `fs.read` (section 4.3.1). @default nothing
   */
  readonly grants?: GrantStore | undefined;
  /** Decides about each call before it is sent, in place of the grants. @default by `grants` */
  readonly authorize?: Authorize | undefined;
  /** Where everything that happens is recorded, never content, never a token. @default nowhere */
  readonly audit?: AuditSink | undefined;
  /**
   * Takes what looks like a secret out of streamed output and of agents' error messages (section 7). Session tokens are
   * added to it. @default a new one
   */
  readonly redactor?: Redactor | undefined;
  /** @default see {@link CoreLimits} */
  readonly limits?: Partial<CoreLimits> | undefined;
  /**
   * Receives what no call says, with the agent: what a tool threw, whose caller learns only that it failed (`tool_failed`; of
   * agents that `startCore` launches), and what a launch observer or `onOutput` threw (`handler_failed`). @default `process.emitWarning`
   */
  readonly onError?: ((error: HarnessError, context: { readonly agentId: string }) => void) | undefined;
  /**
   * The operator's command for grants and directives, which refusals name as advice: `harness core` for stores that it
   * changes. @default refusals name the functions of this package
   */
  readonly operatorCommand?: string | undefined;
  /** The core's version, as announced to agents. @default "0.0.0" */
  readonly coreVersion?: string | undefined;
  /** This core's id, as announced to agents. @default a random UUID */
  readonly instanceId?: string | undefined;
  /** @default the real time */
  readonly clock?: Clock | undefined;
}
