import type { ActionRegistry } from "@harnesskit/protocol/openharness";
import type { Clock, CreateId } from "@harnesskit/wire";
import type { Continuations } from "./continuations.ts";
import type { Failures } from "./failure.ts";
import type { ShellEngineLimits } from "./limits.ts";
import type { Router } from "./routes.ts";
import type { WriteLog } from "./shell-log.ts";

/** What an engine answers its requests with. */
export interface EngineParts<Context> {
  readonly limits: ShellEngineLimits;
  readonly clock: Clock;
  readonly createId: CreateId;
  readonly registry: ActionRegistry;
  readonly router: Router<Context>;
  readonly continuations: Continuations;
  readonly failures: Failures;
  readonly write: WriteLog | undefined;
}
