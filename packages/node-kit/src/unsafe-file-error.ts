import { displayText, HarnessError } from "@harnesskit/wire";

/** Why a file is not read: a link, another kind of file than a regular one, or more bytes than allowed. */
export type UnsafeFileReason = "link" | "not_regular" | "too_large";

/** A file is not one that this program would have made (`unsafe_file`). */
export class UnsafeFileError extends HarnessError {
  override readonly name = "UnsafeFileError";

  constructor(
    readonly path: string,
    readonly reason: UnsafeFileReason,
    /** What is wrong, to be said behind the file's name. */
    readonly problem: string,
    options?: { cause?: unknown },
  ) {
    super("unsafe_file", `${displayText(path, { maxLength: 300 })} ${problem}`, options);
  }

  static override isInstance(value: unknown): value is UnsafeFileError {
    return HarnessError.isInstance(value) && value.name === "UnsafeFileError";
  }
}
