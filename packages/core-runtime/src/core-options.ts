import type { AuditSink, Redactor } from "@harnesskit/audit";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import type { Actor, Caller, RestartPolicy } from "@harnesskit/protocol/runtime";
import type { HarnessError } from "@harnesskit/wire";
import type { Clock } from "@harnesskit/wire/time";
import type { CoreLimits, CoreTimes } from "./core-limits.ts";
import type { ToolInfo } from "./judge-tool.ts";
import type { GrantStore } from "./permissions/grant-store.ts";

/** A call that asks whether it may be made (section 4.3.1). */
export interface AuthorizationRequest {
  readonly tool: ToolInfo;
  /** What the agent's manifest declares that its tools need; empty without a manifest. `tool.permissions` may name less. */
  readonly permissions: readonly string[];
  readonly caller: Caller | undefined;
  readonly actor: Actor | undefined;
  /** The directive that asks for the call, if one does. */
  readonly directiveId: string | undefined;
  readonly correlationId: string | undefined;
  readonly causationId: string | undefined;
  readonly callId: string;
  /** What the tool will get, checked against its schema. Not to be changed. */
  readonly input: Readonly<JsonObject>;
}

/** Allowed, or not and why; the reason and the details go to the caller and must be safe. */
export type Authorization =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly reason: string; readonly details?: JsonObject };

/** Options of `startCore`. */
export interface CoreOptions extends Partial<CoreTimes> {
  /** Directories of agents to start, each with its `opensentience.agent.json`. @default [] */
  readonly agents?: readonly string[] | undefined;
  /** Where the private directory of the socket is made. @default `XDG_RUNTIME_DIR`, or the directory for temporary files */
  readonly socketDirectory?: string | undefined;
  /** Of which agents inherit a few names and those of their manifests. @default process.env */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  /** Overrides the `restart` of the manifests, field by field. @default {} */
  readonly restart?: RestartPolicy | undefined;
  /**
   * Receives each line that an agent writes to its standard output and error, without its end: untrusted, and maybe secret. A
   * line longer than `maxOutputLineLength` comes in parts. @default ignored
   */
  readonly onOutput?:
    | ((output: {
        readonly agentId: string;
        readonly launchId: string;
        readonly stream: "stdout" | "stderr";
        readonly line: string;
      }) => void)
    | undefined;
  /**
   * What the operator granted, beyond what every agent may do: tools without side effects that need no permission but
   * `fs.read` (section 4.3.1). @default nothing
   */
  readonly grants?: GrantStore | undefined;
  /**
   * Decides about each call before it is sent, in place of the grants. Without a valid decision the call is refused.
   * @default by `grants`
   */
  readonly authorize?:
    | ((request: AuthorizationRequest) => Authorization | PromiseLike<Authorization>)
    | undefined;
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
   * agents that the core launched), and what a launch observer or `onOutput` threw (`handler_failed`). @default `process.emitWarning`
   */
  readonly onError?: ((error: HarnessError, context: { readonly agentId: string }) => void) | undefined;
  /**
   * The operator's command for grants, which refusals name as advice: `harness core` for stores that it changes.
   * @default refusals name the functions of this package
   */
  readonly operatorCommand?: string | undefined;
  /** The core's version, as announced to agents. @default "0.0.0" */
  readonly coreVersion?: string | undefined;
  /** @default the real time */
  readonly clock?: Clock | undefined;
}
