import { HarnessError } from "@harnesskit/wire";

/** Why a graph cannot be compiled. */
export type GraphCompileErrorCode =
  | "no_declared_entry"
  | "unreachable_node"
  | "dangling_edge"
  | "multiple_outgoing_edges"
  | "missing_outgoing_edge"
  | "duplicate_node"
  | "conflicting_reducers"
  | "mapping_references_undeclared_field"
  | "conflicting_projection_forms"
  | "reducer_configuration_invalid"
  | "session_state_migration_chain_ambiguous";

/** A graph cannot be compiled; nothing of it has run. `category` is the code, as in errors of a run. */
export class GraphCompileError extends HarnessError<GraphCompileErrorCode> {
  static override readonly brand = "GraphCompileError";
  readonly category: GraphCompileErrorCode;
  /** What else is known: `from_version` and `to_version` of an ambiguous chain of migrations. */
  readonly data: Readonly<Record<string, unknown>>;

  constructor(
    code: GraphCompileErrorCode,
    message: string,
    { data = {}, ...options }: { cause?: unknown; data?: Readonly<Record<string, unknown>> } = {},
  ) {
    super(code, message, options);
    this.category = code;
    this.data = data;
  }
}

/** How a run can fail. */
export type GraphErrorCode =
  | "node_exception"
  | "edge_exception"
  | "reducer_error"
  | "routing_error"
  | "state_validation_error"
  | "fan_out_empty"
  | "parallel_branches_branch_failed"
  | "node_cancelled"
  | "node_timeout"
  | "step_limit_reached"
  | "stream_overflow"
  | "invocation_cancelled"
  | "session_load_failed"
  | "session_save_failed"
  | "session_write_conflict"
  | "session_state_migration_missing"
  | "session_state_migration_chain_ambiguous"
  | "session_state_migration_failed"
  | "run_persistence_failed"
  | "run_record_invalid"
  | "node_ambiguous"
  | "suspension_persistence_failed"
  | "suspension_record_invalid"
  | "suspension_resume_payload_invalid"
  | "suspension_in_unsupported_context";

export interface GraphErrorDetails {
  readonly cause?: unknown;
  /** The node that it happened in. */
  readonly nodeName?: string | undefined;
  /** The names on the way to that node, outermost first, itself last. */
  readonly namespace?: readonly string[] | undefined;
  /** The last state that was whole: what the node received, or what its update was merged into. */
  readonly recoverableState?: unknown;
  /** The fields of the state that it is about. */
  readonly fields?: readonly string[] | undefined;
  /** The reducer that refused an update. */
  readonly reducer?: string | undefined;
  /** What else is known, such as the versions that a migration is missing between, or the branch that failed. */
  readonly data?: Readonly<Record<string, unknown>> | undefined;
}

/** A run failed. `category` is the code; the error of user code is the `cause`. */
export class GraphError extends HarnessError<GraphErrorCode> {
  static override readonly brand = "GraphError";
  readonly category: GraphErrorCode;
  readonly node_name: string | undefined;
  readonly namespace: readonly string[];
  readonly recoverable_state: unknown;
  readonly fields: readonly string[];
  readonly reducer: string | undefined;
  readonly data: Readonly<Record<string, unknown>>;
  #invocationId: string | undefined;

  constructor(code: GraphErrorCode, message: string, details: GraphErrorDetails = {}) {
    super(code, message, details);
    this.category = code;
    this.node_name = details.nodeName;
    this.namespace = details.namespace ?? [];
    this.recoverable_state = details.recoverableState;
    this.fields = details.fields ?? [];
    this.reducer = details.reducer;
    this.data = details.data ?? {};
  }

  /** The invocation that failed; set on every error of `invoke` and `stream`. */
  get invocation_id(): string | undefined {
    return this.#invocationId;
  }

  /** @internal Says which invocation failed, where that is not known yet. */
  static attribute(error: unknown, invocationId: string): void {
    if (error instanceof GraphError) error.#invocationId ??= invocationId;
  }
}

/** Whether a value is an error of this project with this code. */
export const hasCode = (error: unknown, code: string): boolean =>
  HarnessError.isInstance(error) && error.code === code;

/** The message of a thrown value. */
export const thrownMessage = (error: unknown): string => {
  if (typeof error === "string") return error;
  if (!(error instanceof Error)) return "a value that is not an error was thrown";
  return typeof error.message === "string" ? error.message : "an error without a message";
};

/** Waits for a store; what it rejects with becomes the cause of an error with this code. */
export const orFail = <T>(work: Promise<T>, code: GraphErrorCode, what: string): Promise<T> =>
  work.catch((cause: unknown) => {
    throw new GraphError(code, `${what}: ${thrownMessage(cause)}`, { cause });
  });

/** Why a write was refused: another run has written the session, or the store failed. */
export const saveError = (
  cause: unknown,
  code: GraphErrorCode,
  details: Pick<GraphErrorDetails, "namespace" | "recoverableState"> = {},
): GraphError => {
  if (GraphError.isInstance(cause)) return cause;
  const isConflict = hasCode(cause, "session_write_conflict") || hasCode(cause, "lease_lost");
  const [own, what] = isConflict
    ? (["session_write_conflict", "another run has written the session"] as const)
    : ([code, "the state cannot be stored"] as const);
  return new GraphError(own, `${what}: ${thrownMessage(cause)}`, { ...details, cause });
};

const carriers = new Set<unknown>(["node_exception", "parallel_branches_branch_failed"]);
/** How far a chain of causes is followed. */
const maxCauses = 100;

/** An error and its causes, the outermost first, with their categories. */
export const errorChain = (
  error: unknown,
): readonly { readonly thrown: object; readonly category: string | undefined }[] => {
  const chain: { readonly thrown: object; readonly category: string | undefined }[] = [];
  for (let link = error; typeof link === "object" && link !== null && chain.length < maxCauses; ) {
    const { category, cause } = link as { readonly category?: unknown; readonly cause?: unknown };
    const isNamed = typeof category === "string" && category !== "";
    chain.push({ thrown: link, category: isNamed ? category : undefined });
    link = cause;
  }
  return chain;
};

/**
 * What kind of failure an error stands for: the category of the outermost error in its chain of causes that has one and
 * is not that of a wrapper. Null without one.
 */
export const errorCategory = (error: unknown): string | null =>
  errorChain(error).find(({ category }) => category !== undefined && !carriers.has(category))?.category ??
  null;

/** True for an error that is about the whole run: it surfaces as it is, and is not collected. */
export const endsRun = (error: unknown): error is GraphError =>
  GraphError.isInstance(error) &&
  (error.code === "node_ambiguous" || error.code === "run_persistence_failed");
