const marker = Symbol.for("harnesskit.error");

/**
 * Why no model could be made from a spec.
 *
 * - `model.unknown`: the spec cannot be parsed, or names a provider that is not known.
 * - `model.missing_key`: the environment variable with the key is missing, blank or unusable.
 * - `model.missing_package`: the provider's package is not installed or cannot be loaded.
 */
export type ModelErrorCode = "model.unknown" | "model.missing_key" | "model.missing_package";

/**
 * The error of this package. `code` is a stable string for programs, `message` says what to do and never holds
 * a key, `cause` is kept. Carries the marker by which the other packages recognise errors of this project.
 */
export class ModelError extends Error {
  override readonly name = "ModelError";
  readonly [marker] = true;
  readonly code: ModelErrorCode;

  constructor(code: ModelErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }

  /** Recognises the error by its marker and name, so that two copies of the package in one process agree. */
  static isInstance(value: unknown): value is ModelError {
    if (typeof value !== "object" || value === null) return false;
    const candidate = value as { [marker]?: unknown; name?: unknown };
    return candidate[marker] === true && candidate.name === "ModelError";
  }
}
