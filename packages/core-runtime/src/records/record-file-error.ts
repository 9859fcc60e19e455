import { FileLockError, systemErrorCode, UnsafeFileError } from "@harnesskit/node-kit";
import { displayText, HarnessError } from "@harnesskit/wire";

export type RecordFileErrorCode =
  /** It is not what such a file holds. `place` says where. */
  | "record_file_invalid"
  /** It, or its directory, is a link, of another kind, another user's, or can be written by others. */
  | "record_file_unsafe"
  /** It has more bytes or records than allowed. */
  | "record_file_too_large"
  /** Another process holds its lock for too long. */
  | "record_file_locked"
  /** The system refuses to read or write it. */
  | "record_file_unavailable";

/** A file of grants or directives that cannot be used. Nothing is granted by it. */
export class RecordFileError extends HarnessError<RecordFileErrorCode> {
  static override readonly brand = "RecordFileError";
  constructor(
    code: RecordFileErrorCode,
    readonly path: string,
    problem: string,
    /** The field that is wrong, such as `grants.3.until`; empty where it is the file. */
    readonly place = "",
    options?: { readonly cause?: unknown },
  ) {
    super(code, `${displayText(path, { maxLength: 300 })} ${problem}`, options);
  }
}

/** The code of what a store rejected and the place in its file, for callers: without the path. */
export const recordFault = (error: unknown): string => {
  const code = HarnessError.isInstance(error) ? error.code : "unknown";
  return RecordFileError.isInstance(error) && error.place !== "" ? `${code} at ${error.place}` : code;
};

/** What reading, locking or writing the file threw, as a {@link RecordFileError}. */
export const toRecordFileError = (path: string, cause: unknown): HarnessError => {
  if (UnsafeFileError.isInstance(cause)) {
    const code = cause.reason === "too_large" ? "record_file_too_large" : "record_file_unsafe";
    return new RecordFileError(code, path, cause.problem, "", { cause });
  }
  if (FileLockError.isInstance(cause)) {
    return new RecordFileError("record_file_locked", path, `cannot be changed: ${cause.message}`, "", {
      cause,
    });
  }
  // Also what an edit threw.
  if (HarnessError.isInstance(cause)) return cause;
  const problem = `cannot be read or written (${systemErrorCode(cause) ?? "unknown"})`;
  return new RecordFileError("record_file_unavailable", path, problem, "", { cause });
};
