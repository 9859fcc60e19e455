/** Something that went wrong beside a turn and does not change its outcome. */
export interface ChatHarnessWarning {
  readonly kind: "listener_failed" | "delivery_failed" | "recovery_failed" | "report_failed";
  readonly message: string;
  readonly cause?: unknown;
}

/** Told of warnings. What it throws is ignored. */
export type OnWarning = (warning: ChatHarnessWarning) => void;

interface WarningProcess {
  emitWarning?(message: string, type: string): void;
}

/** The text of whatever was thrown. Never throws. */
export const messageOf = (error: unknown): string => {
  if (typeof error === "string") return error;
  if (!(error instanceof Error)) return "something that is no error";
  const text = partOf(error, "message");
  return typeof text === "string" ? text : "an error without a text";
};

/** A property of something that was thrown; undefined also where it cannot be read. */
export const partOf = (thrown: unknown, name: string): unknown => {
  try {
    return (thrown as Readonly<Record<string, unknown>>)[name];
  } catch {
    return undefined;
  }
};

/** Says it where the platform has a place for warnings: `process.emitWarning`, or `reportError` of browsers. */
export const platformWarning: OnWarning = ({ kind, message, cause }) => {
  const platform = globalThis as {
    readonly process?: WarningProcess;
    readonly reportError?: (error: unknown) => void;
  };
  if (platform.process?.emitWarning !== undefined) {
    platform.process.emitWarning(`${kind}: ${message}`, "ChatHarnessWarning");
  } else if (cause !== undefined) platform.reportError?.(cause);
};

/** Calls in which a failing receiver is of no consequence. */
export const safeWarning =
  (onWarning: OnWarning): OnWarning =>
  (warning) => {
    try {
      onWarning(warning);
    } catch {
      // Nobody else can be told.
    }
  };
