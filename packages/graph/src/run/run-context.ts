import type { JsonObject } from "@harnesskit/protocol/envelope";
import { InvalidArgumentError } from "@harnesskit/wire";
import { GraphError } from "../errors.ts";
import { applyUpdate } from "../state/apply.ts";
import { isMapping } from "../state/check.ts";
import { deepFreeze, jsonProblem } from "../state/freeze.ts";
import type { Fields, UpdateOf } from "../state/schema.ts";
import type { AbortScope } from "./abort-scope.ts";
import type { MiddlewareContext, NodeContext, SuspendDescriptor, SuspendOptions } from "./context.ts";
import { innermost } from "./frame.ts";
import type { Attempt, NodeRun } from "./node-run.ts";
import { Pause, type PauseFacts } from "./pause.ts";
import { unsupported } from "./unsupported.ts";

/** What middleware around a node is given. */
export class RunContext implements MiddlewareContext {
  readonly invocationId: string;
  readonly correlationId: string;
  readonly sessionId: string | null;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly nodeName: string;
  readonly namespace: readonly string[];
  readonly fanOutIndex: number | undefined;
  readonly branchName: string | undefined;
  readonly #abort: AbortScope;

  constructor(run: NodeRun, abort: AbortScope) {
    const { frame } = run;
    const { info } = frame.invocation;
    this.#abort = abort;
    this.invocationId = info.invocationId;
    this.correlationId = info.correlationId;
    this.sessionId = info.sessionId;
    this.metadata = info.metadata;
    this.nodeName = run.node.name;
    this.namespace = run.namespace;
    this.fanOutIndex = innermost(frame.fanOutIndexes);
    this.branchName = innermost(frame.branchNames);
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }
}

/** A frozen copy of what a suspension carries. Throws `invalid_argument` for what is no JSON object. */
const ownMetadata = (metadata: JsonObject): JsonObject => {
  const problem = isMapping(metadata) ? jsonProblem(metadata, "metadata") : "metadata is no object";
  if (problem !== undefined) throw new InvalidArgumentError(`a suspension keeps JSON: ${problem}`);
  // Lists of the state are views, which can be written as JSON and not cloned.
  return deepFreeze(JSON.parse(JSON.stringify(metadata)) as JsonObject);
};

const ownDescriptor = (descriptor: SuspendDescriptor): PauseFacts["descriptor"] => {
  if (!isMapping(descriptor) || typeof descriptor.signal_id !== "string" || descriptor.signal_id === "") {
    throw new InvalidArgumentError("a suspension needs a signal_id that is not empty");
  }
  const { signal_id: signalId, metadata } = descriptor;
  return deepFreeze({
    signal_id: signalId,
    ...(metadata === undefined ? {} : { metadata: ownMetadata(metadata) }),
  });
};

/** What the body of a node is given. */
export class BodyContext extends RunContext implements NodeContext {
  readonly attemptIndex: number;
  readonly isResumed: boolean;
  readonly suspend: NodeContext["suspend"];
  readonly saveSession: NodeContext["saveSession"];

  constructor(run: NodeRun, attempt: Attempt, abort: AbortScope) {
    super(run, abort);
    this.attemptIndex = attempt.index;
    this.isResumed = run.isReturn;
    // Own functions, so that they can be taken out of the context.
    this.suspend = (descriptor, options) => suspendIn(run, attempt, descriptor, options);
    this.saveSession = (update) => saveIn(run, attempt, update);
  }
}

const suspendIn = (
  run: NodeRun,
  attempt: Attempt,
  descriptor: SuspendDescriptor,
  { markNodeCompleted = true }: SuspendOptions = {},
): never => {
  if (attempt.isOver) {
    run.checkOver();
    throw unsupported("the body of the node has ended", run.place);
  }
  if (!run.frame.canSuspend) throw run.refuse("nothing can suspend where errors are collected");
  const pause = new Pause({
    descriptor: ownDescriptor(descriptor),
    markNodeCompleted,
    attemptIndex: attempt.index,
    namespace: run.namespace,
  });
  run.pauseWith(pause);
  throw pause;
};

const saveIn = async (
  run: NodeRun,
  attempt: Attempt,
  update: UpdateOf<Fields> | undefined,
): Promise<boolean> => {
  if (attempt.isOver) {
    throw new GraphError("session_save_failed", "the body of the node has ended", run.origin);
  }
  if (run.frame.namespace.length > 0) {
    throw new GraphError("session_save_failed", "a subgraph has no session", run.origin);
  }
  return run.frame.invocation.saveSession(applyUpdate(run.state, update, run.origin));
};
