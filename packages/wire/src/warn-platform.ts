/** A failure for which no error handler was given. */
export interface PlatformWarning {
  readonly kind: string;
  readonly message: string;
  readonly cause?: unknown;
}

interface WarningProcess {
  emitWarning?(message: string, type: string): void;
}

/** Says it where the platform has a place for warnings: `process.emitWarning`, with this type, or `reportError` of browsers. */
export const warnPlatform = (type: string, { kind, message, cause }: PlatformWarning): void => {
  const platform = globalThis as {
    readonly process?: WarningProcess;
    readonly reportError?: (error: unknown) => void;
  };
  if (platform.process?.emitWarning !== undefined) platform.process.emitWarning(`${kind}: ${message}`, type);
  else if (cause !== undefined) platform.reportError?.(cause);
};
