import type { CoreToolsRegistered, RuntimeError, RuntimeErrorCode } from "@harnesskit/protocol/runtime";
import { HarnessError } from "@harnesskit/wire";

/** The program was not started by a core: `variables` are missing in its environment. */
export class MissingEnvironmentError extends HarnessError {
  static override readonly brand = "MissingEnvironmentError";
  constructor(readonly variables: readonly string[]) {
    super(
      "missing_environment",
      `${variables.join(" and ")} not set: this program is a tool process and is started by a core. ` +
        "Name it in an agent manifest, or try its tools without a core with agent.call()",
    );
  }
}

/** The core did not let the agent in (section 4.1.2). `code` is the core's, such as `protocol.unauthorized`. */
export class CoreRefusedError extends HarnessError {
  static override readonly brand = "CoreRefusedError";
  constructor(readonly refusal: RuntimeError) {
    super(refusal.code, `the core refused the agent: ${refusal.message}`);
  }
}

/** The core answered with `core.error`: it could not take what was sent (section 6.2). `code` is the core's. */
export class CoreReportedError extends HarnessError {
  static override readonly brand = "CoreReportedError";
  constructor(readonly reported: RuntimeError) {
    super(reported.code, `the core reports: ${reported.message}`);
  }
}

/** What the core sent breaks the protocol; the connection was closed for it. `code` begins with `protocol.`. */
export class RuntimeProtocolError extends HarnessError<RuntimeErrorCode> {
  static override readonly brand = "RuntimeProtocolError";
  constructor(code: RuntimeErrorCode, message: string, options?: { cause?: unknown }) {
    super(code, message, options);
  }
}

/** A tool that the core did not take, and why. */
export type RejectedTool = NonNullable<CoreToolsRegistered["payload"]["rejected"]>[number];

/** The core took none of the tools, or not all of them: `rejected` says why. */
export class ToolsRejectedError extends HarnessError {
  static override readonly brand = "ToolsRejectedError";
  constructor(readonly rejected: readonly RejectedTool[]) {
    const reasons = rejected.map(({ tool_id, error }) => `${tool_id} (${error.code})`);
    super("tools_rejected", `the core rejected ${reasons.join(", ")}`);
  }
}

/** A tool failed; its caller gets only a general message, `cause` has the rest. */
export class ToolFailedError extends HarnessError {
  static override readonly brand = "ToolFailedError";
  constructor(
    readonly tool: string,
    readonly callId: string,
    message: string,
    options: { cause: unknown },
  ) {
    super("tool_failed", message, options);
  }
}

/** Something that no call waits for failed: a timer or promise of a tool whose call is over, or of no tool. */
export class StrayFailureError extends HarnessError {
  static override readonly brand = "StrayFailureError";
  constructor(
    readonly tool: string | undefined,
    options: { cause: unknown },
  ) {
    super(
      "stray_failure",
      `${tool === undefined ? "something" : `tool ${tool}`} failed outside of a call`,
      options,
    );
  }
}
