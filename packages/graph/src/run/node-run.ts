import type { PlannedNode } from "../compile/plan.ts";
import { GraphError, type GraphErrorCode, messageOf } from "../errors.ts";
import type { FanOutConfig, NodeEvent, ParallelBranchesConfig } from "../observers/node-event.ts";
import type { Snapshot } from "../state/snapshot.ts";
import type { AbortScope } from "./abort-scope.ts";
import type { AmbientScope } from "./ambient.ts";
import { type Frame, innermost } from "./frame.ts";
import type { Pause } from "./pause.ts";
import { isUnsupported, unsupported } from "./unsupported.ts";

export type AttemptConfigs = {
  readonly fan_out_config?: FanOutConfig;
  readonly parallel_branches_config?: ParallelBranchesConfig;
};

/** One call of a node's body, or of what a fan-out or branches node does. */
export interface Attempt {
  readonly index: number;
  readonly received: object;
  readonly configs: AttemptConfigs;
  /** True once nobody waits for it: it has ended or suspended. */
  isOver: boolean;
  /** Why it failed. Told when the node goes on to another attempt or fails, and not where middleware recovers it. */
  failure: GraphError | undefined;
}

/** What names an instance of a fan-out, or a branch. */
export type TaskMetadata = {
  readonly fan_out_index?: number;
  readonly branch_name?: string;
};

/** How a resumed run comes back to a node. */
export interface Return {
  readonly attemptIndex: number;
}

/** One node being run: its attempts, what observers are told of them, and the suspension that may come out of it. */
export class NodeRun {
  readonly frame: Frame;
  readonly node: PlannedNode;
  readonly state: Snapshot;
  readonly namespace: readonly string[];
  /** The errors that belong to a node inside, and pass as they are. */
  passing: unknown;
  /** The error of the item or branch that failed the node, with what names it. */
  failedTask: { readonly error: unknown; readonly metadata: TaskMetadata } | undefined;
  #pause: Pause | undefined;
  #onPause: ((pause: Pause) => void) | undefined;
  #refused: GraphError | undefined;
  #step: number | undefined;
  #attempts: number;
  /** True where the body runs again behind a suspension. */
  readonly isReturn: boolean;
  /** The attempt whose end observers were not told yet. */
  #open: Attempt | undefined;

  constructor(frame: Frame, node: PlannedNode, state: Snapshot, back?: Return) {
    this.frame = frame;
    this.node = node;
    this.state = state;
    this.namespace = [...frame.namespace, node.name];
    this.#attempts = back?.attemptIndex ?? 0;
    this.isReturn = back !== undefined;
  }

  get step(): number {
    this.#step ??= this.frame.invocation.takeStep();
    return this.#step;
  }

  /** True where a body or a node of its own has run, so that the node counts as run. */
  get hasRun(): boolean {
    return this.#step !== undefined;
  }

  get pause(): Pause | undefined {
    return this.#pause;
  }

  /** Waits for the node's code, unless it suspends; then nobody waits for it any more. */
  settle(chain: Promise<unknown>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#onPause = reject;
      // A body that suspends before it first waits has done so already.
      if (this.#pause !== undefined) reject(this.#pause);
      chain.then(
        (update) => {
          if (this.#pause !== undefined) reject(this.#pause);
          else if (this.#refused !== undefined) reject(this.#refused);
          else resolve(update);
        },
        (error: unknown) => reject(this.#pause ?? this.#refused ?? error),
      );
    });
  }

  /** Throws again what ended the node for good, where something has. */
  checkOver(): void {
    if (this.#pause !== undefined) throw this.#pause;
    if (this.#refused !== undefined) throw this.#refused;
  }

  /** Has the node end with a suspension. */
  pauseWith(pause: Pause): void {
    if (this.#pause !== undefined) return;
    this.#pause = pause;
    if (this.#open !== undefined) {
      const attempt = this.#open;
      attempt.isOver = true;
      this.#open = undefined;
      pause.position = { namespace: [...this.namespace], step: this.step };
      pause.reports.push((error) => this.#tellPause(attempt, pause, error));
    }
    this.#onPause?.(pause);
  }

  #tellPause(attempt: Attempt, { descriptor }: Pause, error: GraphError | undefined): void {
    if (error === undefined) this.#tell("suspended", attempt, { descriptor });
    else this.#tell("completed", attempt, { error: { category: error.code, instance: error } });
  }

  /** Has the node fail because something suspended where it cannot. */
  refuse(message: string): GraphError {
    this.#refused ??= unsupported(message, this.place);
    return this.#refused;
  }

  /** Begins a call of what the node does. Throws where the node is over. */
  begin(received: object, abort: AbortScope, configs: AttemptConfigs = {}): Attempt {
    this.checkOver();
    abort.check();
    this.#closeBefore();
    const attempt: Attempt = {
      index: this.#attempts++,
      received,
      configs,
      isOver: false,
      failure: undefined,
    };
    void this.step;
    this.#open = attempt;
    this.#tell("started", attempt, {});
    return attempt;
  }

  /** Ends a call that threw; middleware may still recover the node, or call it again. */
  fail(attempt: Attempt, error: unknown): void {
    attempt.isOver = true;
    if (this.#open === attempt && this.#isTold) attempt.failure = this.wrap(error);
  }

  /** Ends the call that runs, which middleware waits for no longer; what it does from now on is dropped. */
  abandon(error: GraphError): void {
    if (this.#open !== undefined && !this.#open.isOver) this.fail(this.#open, error);
  }

  /** Tells how the last call ended: another one begins now. */
  #closeBefore(): void {
    const failure = this.#open?.failure;
    this.#close(failure === undefined ? { state: this.state } : { error: failure });
  }

  /** Has the last call count as one that went well: middleware made an update of its failure. */
  recover(): void {
    if (this.#open !== undefined) this.#open.failure = undefined;
  }

  /** Tells how the last call ended, by the state after the node: the update of the call, or what middleware made of it. */
  complete(state: Snapshot): void {
    this.#close({ state });
  }

  /** Tells how the last call ended: with its own failure, or with the error of what came after it. */
  failWith(error: GraphError): void {
    this.#close({ error: this.#open?.failure ?? error });
  }

  #close(outcome: { readonly state: Snapshot } | { readonly error: GraphError }): void {
    const attempt = this.#open;
    if (attempt === undefined) return;
    attempt.isOver = true;
    this.#open = undefined;
    if ("error" in outcome) {
      this.#tell("completed", attempt, { error: { category: outcome.error.code, instance: outcome.error } });
    } else {
      this.#tell("completed", attempt, { post_state: outcome.state.view });
    }
  }

  get #isTold(): boolean {
    return this.frame.invocation.isTold(this.frame.observers);
  }

  #tell(phase: NodeEvent["phase"], attempt: Attempt, facts: Partial<NodeEvent>): void {
    const { frame } = this;
    if (!this.#isTold) return;
    const fanOutIndex = innermost(frame.fanOutIndexes);
    const branchName = innermost(frame.branchNames);
    const event: NodeEvent = {
      phase,
      invocation_id: frame.invocation.info.invocationId,
      correlation_id: frame.invocation.info.correlationId,
      node_name: this.node.name,
      namespace: this.namespace,
      step: this.step,
      pre_state: attempt.received,
      ...facts,
      parent_states: frame.parents.map((parent) => parent.view),
      attempt_index: attempt.index,
      ...(fanOutIndex === undefined ? {} : { fan_out_index: fanOutIndex }),
      ...(branchName === undefined ? {} : { branch_name: branchName }),
      fan_out_index_chain: frame.fanOutIndexes,
      branch_name_chain: frame.branchNames,
      ...attempt.configs,
    };
    frame.invocation.tell(Object.freeze(event), frame.observers);
  }

  /** An error of this node, the thrown one as its cause. */
  wrap(cause: unknown, code: GraphErrorCode = this.#code): GraphError {
    if (cause === this.passing && GraphError.isInstance(cause)) return cause;
    if (isUnsupported(cause) && cause === this.#refused) return cause;
    const task = this.failedTask?.error === cause ? this.failedTask : undefined;
    const branch = task?.metadata.branch_name;
    const where = branch === undefined ? this.node.name : `${this.node.name}: branch ${branch}`;
    return new GraphError(code, `${where}: ${messageOf(cause)}`, {
      cause,
      ...this.place,
      ...(task === undefined ? {} : { data: task.metadata }),
    });
  }

  get #code(): GraphErrorCode {
    return this.node.definition.kind === "parallel" ? "parallel_branches_branch_failed" : "node_exception";
  }

  /** What asynchronous code of the middleware sees. */
  middlewareScope(): AmbientScope {
    return {
      info: this.frame.invocation.info,
      suspend: () => {
        throw this.refuse("middleware cannot suspend");
      },
    };
  }

  /** Names the node in errors, with the state that it received. */
  get place() {
    return { nodeName: this.node.name, namespace: this.namespace, recoverableState: this.state.view };
  }

  /** Names the node in errors of its update. */
  get origin(): { readonly nodeName: string; readonly namespace: readonly string[] } {
    return { nodeName: this.node.name, namespace: this.namespace };
  }
}
