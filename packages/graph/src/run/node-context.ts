import type { JsonObject } from "@harnesskit/protocol/envelope";
import { InvalidArgumentError } from "@harnesskit/wire";
import { copyJson, isObject, jsonProblem, maxMessageDepth } from "@harnesskit/wire/json";
import { GraphError } from "../errors.ts";
import { applyUpdate } from "../state/apply.ts";
import type { AbortScope } from "./abort-scope.ts";
import type { MiddlewareContext, NodeContext, SuspendDescriptor } from "./context.ts";
import { innermostTask } from "./frame.ts";
import type { Attempt, NodeRun } from "./node-run.ts";
import { Pause, unsupported } from "./pause.ts";

/** What middleware around a node is given. */
export const middlewareContext = (
  { frame, node, namespace, info }: NodeRun,
  { signal }: AbortScope,
): MiddlewareContext => ({ ...info, nodeName: node.name, namespace, ...innermostTask(frame), signal });

/** A frozen copy of a descriptor. Throws `invalid_argument` for one that is not valid. */
const copyDescriptor = (descriptor: SuspendDescriptor): Pause["descriptor"] => {
  if (!isObject(descriptor) || typeof descriptor.signal_id !== "string" || descriptor.signal_id === "") {
    throw new InvalidArgumentError("a suspension needs a signal_id that is not empty");
  }
  const { signal_id, metadata } = descriptor;
  if (metadata === undefined) return Object.freeze({ signal_id });
  const problem = jsonProblem(metadata, { name: "metadata", maxDepth: maxMessageDepth - 1 })?.message;
  if (problem !== undefined || !isObject(metadata)) {
    throw new InvalidArgumentError(problem ?? "the metadata of a suspension must be an object");
  }
  return copyJson<{ signal_id: string; metadata: JsonObject }>(
    { signal_id, metadata },
    { freeze: true, maxDepth: maxMessageDepth },
  );
};

/** What the body of a node is given. */
export const nodeContext = (run: NodeRun, attempt: Attempt, abort: AbortScope): NodeContext => {
  const { frame, key, namespace, origin } = run;
  const { invocation } = frame;
  return {
    ...middlewareContext(run, abort),
    attemptIndex: attempt.index,
    isResumed: run.isReturn,
    isRecovered: invocation.isRecovered,
    idempotencyKey: `${invocation.runId}:${key}`,
    suspend(descriptor, { markNodeCompleted = true } = {}) {
      if (attempt.isOver) {
        run.checkOver();
        throw unsupported("the body of the node has ended", run.place);
      }
      if (!frame.canSuspend) throw run.refuse("nothing can suspend where errors are collected");
      const pause = new Pause(copyDescriptor(descriptor), markNodeCompleted, attempt.index, namespace);
      run.pauseWith(pause);
      throw pause;
    },
    async saveSession(update) {
      const refuse = (message: string) => new GraphError("session_save_failed", message, origin);
      if (attempt.isOver) throw refuse("the body of the node has ended");
      if (frame.namespace.length > 0) throw refuse("a subgraph has no session");
      return invocation.saveSession(applyUpdate(run.state, update, origin));
    },
    async effect(name, call, { idempotent = false } = {}) {
      const { journal } = invocation;
      if (journal === undefined) return call();
      const result = await journal.effect({ key: `${key}!${name}`, namespace }, name, idempotent, call);
      return result as Awaited<ReturnType<typeof call>>;
    },
  };
};
