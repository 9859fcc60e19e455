/** Something that went wrong beside a run and does not change it. */
export interface GraphWarning {
  readonly kind: "observer_failed" | "observer_queue_full" | "projection_reducer_round_trip";
  readonly message: string;
  readonly cause?: unknown;
}

interface WarningProcess {
  emitWarning?(message: string, type: string): void;
}

/** Says it where the platform has a place for warnings: `process.emitWarning`, or `reportError` of browsers. */
export const platformWarning = ({ kind, message, cause }: GraphWarning): void => {
  const platform = globalThis as {
    readonly process?: WarningProcess;
    readonly reportError?: (error: unknown) => void;
  };
  if (platform.process?.emitWarning !== undefined)
    platform.process.emitWarning(`${kind}: ${message}`, "GraphWarning");
  else if (cause !== undefined) platform.reportError?.(cause);
};
