import type { ActionRegistry } from "@harnesskit/protocol/openharness";
import type { Clock, CreateId } from "@harnesskit/wire";
import type { Continuations } from "./continuations.ts";
import type { Payload } from "./finish-reply.ts";
import type { ShellEngineLimits } from "./limits.ts";
import type { Redact } from "./redaction.ts";
import type { Router } from "./routes.ts";
import type { ShellLog } from "./shell-log.ts";
import type { StreamTable } from "./streaming/stream-table.ts";

export interface Outcome {
  readonly payload: Payload;
  readonly isReplay: boolean;
}

export interface RequestRunnerOptions<Context> {
  readonly limits: ShellEngineLimits;
  readonly clock: Clock;
  readonly createId: CreateId;
  readonly registry: ActionRegistry;
  readonly log: ShellLog;
  readonly router: Router<Context>;
  readonly continuations: Continuations;
  readonly streams: StreamTable;
  readonly toFailure: (error: unknown, redact: Redact, elapsedMs?: number) => Payload;
  readonly onError: (error: unknown) => void;
}
