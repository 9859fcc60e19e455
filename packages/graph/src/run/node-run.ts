import { defined } from "@harnesskit/wire/json";
import { recordSuspension, type Span, startSpan } from "@harnesskit/wire/trace";
import type { PlannedNode } from "../compile/plan.ts";
import { endsRun, GraphError, type GraphErrorCode, thrownMessage } from "../errors.ts";
import type { NodeEvent } from "../observers/node-event.ts";
import { Snapshot } from "../state/snapshot.ts";
import type { AbortScope } from "./abort-scope.ts";
import type { AmbientScope } from "./ambient.ts";
import type { InvocationInfo } from "./context.ts";
import { type Frame, innermostTask, type TaskName } from "./frame.ts";
import { type Pause, unsupported } from "./pause.ts";

export type AttemptConfigs = Pick<NodeEvent, "fan_out_config" | "parallel_branches_config">;

/** One call of a node's body, or of what a fan-out or branches node does. */
export interface Attempt {
  readonly index: number;
  readonly received: object;
  readonly configs: AttemptConfigs;
  readonly span: Span | undefined;
  /** True once it has ended or suspended. */
  isOver: boolean;
  /** Why it failed. Reported when another attempt begins or the node fails, and not if middleware recovers it. */
  failure: GraphError | undefined;
}

/** One run of a node: its attempts, their events, and its suspension. Middleware runs in it as its scope. */
export class NodeRun implements AmbientScope {
  readonly frame: Frame;
  readonly node: PlannedNode;
  readonly state: Snapshot;
  readonly namespace: readonly string[];
  /** Its place in the run; see `Journal`. */
  readonly key: string;
  /** True where the body runs again behind a suspension. */
  readonly isReturn: boolean;
  /** The error that belongs to a node inside, and passes as it is. */
  passing: unknown;
  /** The error of the item or branch that failed the node, with what names it. */
  failedTask: { readonly error: unknown; readonly task: TaskName } | undefined;
  #pause: Pause | undefined;
  #onPause: ((pause: Pause) => void) | undefined;
  #refused: GraphError | undefined;
  #step: number | undefined;
  #attempts: number;
  #calls = 0;
  /** The attempt whose end is not reported yet. */
  #open: Attempt | undefined;

  /** @param resumedAt the attempt of a resumed run whose body runs again */
  constructor(frame: Frame, node: PlannedNode, state: Snapshot, key: string, resumedAt: number | undefined) {
    this.frame = frame;
    this.node = node;
    this.state = state;
    this.namespace = [...frame.namespace, node.name];
    this.key = key;
    this.#attempts = resumedAt ?? 0;
    this.isReturn = resumedAt !== undefined;
  }

  get info(): InvocationInfo {
    return this.frame.invocation.info;
  }

  /** What code of the middleware gets. */
  suspend(): never {
    throw this.refuse("middleware cannot suspend");
  }

  /** What the keys of graphs inside begin with, for one more call of them. */
  innerKey(): string {
    return `${this.key}/${this.#calls++}`;
  }

  /** Its step; null where it has taken none. */
  get step(): number | null {
    return this.#step ?? null;
  }

  get #ownStep(): number {
    this.#step ??= this.frame.invocation.takeStep();
    return this.#step;
  }

  /** What ended the node for good: a suspension, or the refusal of one. */
  get #ending(): Pause | GraphError | undefined {
    return this.#pause ?? this.#refused;
  }

  /** Waits for the node's code, until it suspends. */
  settle(chain: Promise<unknown>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#onPause = reject;
      // A body that suspends before it first waits has done so already.
      if (this.#pause !== undefined) reject(this.#pause);
      chain.then(
        (update) => (this.#ending === undefined ? resolve(update) : reject(this.#ending)),
        (error: unknown) => reject(this.#ending ?? error),
      );
    });
  }

  /** Throws again what ended the node for good, where something has. */
  checkOver(): void {
    if (this.#ending !== undefined) throw this.#ending;
  }

  /** Ends the node with a suspension. */
  pauseWith(pause: Pause): void {
    if (this.#pause !== undefined) return;
    this.#pause = pause;
    const attempt = this.#open;
    if (attempt !== undefined) {
      attempt.isOver = true;
      this.#open = undefined;
      pause.position = { namespace: [...this.namespace], step: this.#ownStep };
      const { descriptor } = pause;
      attempt.span?.set({ "openarmature.outcome": "suspended" });
      recordSuspension(attempt.span, descriptor.signal_id, descriptor.metadata);
      attempt.span?.end();
      pause.reports.push((error) => {
        if (error === undefined) this.#report("suspended", attempt, { descriptor });
        else this.#reportEnd(attempt, error);
      });
    }
    this.#onPause?.(pause);
  }

  /** Fails the node, because code suspended where that is not possible. */
  refuse(message: string): GraphError {
    this.#refused ??= unsupported(message, this.place);
    return this.#refused;
  }

  /** Begins a call of what the node does. Throws where the node is over. */
  begin(received: object, abort: AbortScope, configs: AttemptConfigs = {}): Attempt {
    this.checkOver();
    abort.signal.throwIfAborted();
    this.#close(this.#open?.failure ?? this.state);
    const index = this.#attempts++;
    void this.#ownStep;
    const span = this.#trace(index, configs);
    const attempt = { index, received, configs, span, isOver: false, failure: undefined };
    this.#open = attempt;
    this.#report("started", attempt, {});
    return attempt;
  }

  /** Ends a call that threw; middleware may still recover the node, or call it again. */
  fail(attempt: Attempt, error: unknown): void {
    attempt.isOver = true;
    const isNeeded = this.#isObserved || attempt.span !== undefined;
    if (this.#open === attempt && isNeeded) attempt.failure = this.wrap(error);
  }

  /** Ends the running call, which middleware has cancelled; what it does from now on is dropped. */
  abandon(error: GraphError): void {
    if (this.#open !== undefined && !this.#open.isOver) this.fail(this.#open, error);
  }

  /** The node has this state behind it: a failure of the last call was replaced by an update. */
  complete(state: Snapshot): void {
    this.#close(state);
    if (this.#step === undefined) return;
    this.frame.invocation.positions.push({ namespace: [...this.namespace], step: this.#step });
  }

  /** The node has failed; `hasUpdate` where its update is the reason, and not its last call. */
  failWith(error: GraphError, hasUpdate: boolean): void {
    this.#close(hasUpdate ? error : (this.#open?.failure ?? error));
  }

  #close(outcome: Snapshot | GraphError): void {
    const attempt = this.#open;
    if (attempt === undefined) return;
    attempt.isOver = true;
    this.#open = undefined;
    this.#reportEnd(attempt, outcome);
  }

  get #isObserved(): boolean {
    return this.frame.invocation.isObserved(this.frame.attached);
  }

  #trace(attempt: number, configs: AttemptConfigs): Span | undefined {
    const { fan_out_config: fanOut, parallel_branches_config: branches } = configs;
    return startSpan(() => {
      const { fanOutIndex, branchName } = innermostTask(this.frame);
      return {
        name: this.node.name,
        attributes: {
          "openarmature.node.name": this.node.name,
          "openarmature.node.namespace": [...this.namespace],
          "openarmature.node.step": this.#ownStep,
          "openarmature.node.attempt_index": attempt,
          "openarmature.node.fan_out_index": fanOutIndex,
          "openarmature.node.branch_name": branchName,
          "openarmature.correlation_id": this.info.correlationId,
          "openarmature.fan_out.item_count": fanOut?.item_count,
          "openarmature.fan_out.concurrency": fanOut?.concurrency,
          "openarmature.fan_out.error_policy": fanOut?.error_policy,
          "openarmature.parallel_branches.branch_count": branches?.branch_names.length,
          "openarmature.parallel_branches.error_policy": branches?.error_policy,
        },
        metric: "harness.graph.node.duration",
        marksSuccess: true,
      };
    });
  }

  #reportEnd(attempt: Attempt, outcome: Snapshot | GraphError): void {
    if (outcome instanceof Snapshot) {
      attempt.span?.end();
      this.#report("completed", attempt, { post_state: outcome.view });
    } else {
      attempt.span?.set({ "openarmature.error.category": outcome.code });
      attempt.span?.end(outcome);
      this.#report("completed", attempt, { error: { category: outcome.code, instance: outcome } });
    }
  }

  #report(phase: NodeEvent["phase"], attempt: Attempt, facts: Partial<NodeEvent>): void {
    if (!this.#isObserved) return;
    const { invocation, parents, fanOutIndexes, branchNames, attached } = this.frame;
    const { fanOutIndex: fan_out_index, branchName: branch_name } = innermostTask(this.frame);
    const event: NodeEvent = {
      phase,
      invocation_id: this.info.invocationId,
      correlation_id: this.info.correlationId,
      node_name: this.node.name,
      namespace: this.namespace,
      step: this.#ownStep,
      pre_state: attempt.received,
      ...facts,
      parent_states: parents.map((parent) => parent.view),
      attempt_index: attempt.index,
      ...defined({ fan_out_index, branch_name }),
      fan_out_index_chain: fanOutIndexes,
      branch_name_chain: branchNames,
      ...attempt.configs,
    };
    invocation.report(Object.freeze(event), attached);
  }

  /** An error of this node, the thrown one as its cause. */
  wrap(cause: unknown): GraphError {
    if (endsRun(cause)) return cause;
    if (GraphError.isInstance(cause) && (cause === this.passing || cause === this.#refused)) return cause;
    const isParallel = this.node.kind === "parallel";
    const code: GraphErrorCode = isParallel ? "parallel_branches_branch_failed" : "node_exception";
    const task = this.failedTask?.error === cause ? this.failedTask?.task : undefined;
    const branch = task?.branch_name === undefined ? "" : `: branch ${task.branch_name}`;
    const message = `${this.node.name}${branch}: ${thrownMessage(cause)}`;
    return new GraphError(code, message, { cause, ...this.place, data: task });
  }

  /** Names the node in errors, with the state that it received. */
  get place() {
    return { ...this.origin, recoverableState: this.state.view };
  }

  /** Names the node in errors of its update. */
  get origin(): { readonly nodeName: string; readonly namespace: readonly string[] } {
    return { nodeName: this.node.name, namespace: this.namespace };
  }
}
