import { ModelError } from "./model-error.ts";

// The import has to stand in a `try`: bundlers then leave a package out that is not installed, in place of failing.

/** Loads `@harnesskit/models-offline`. Throws `model.missing_package`. */
export async function importOffline() {
  try {
    return await import("@harnesskit/models-offline");
  } catch (cause) {
    throw toMissingPackage("@harnesskit/models-offline", cause);
  }
}

/** Loads `@ai-sdk/anthropic`. Throws `model.missing_package`. */
export async function importAnthropic() {
  try {
    return await import("@ai-sdk/anthropic");
  } catch (cause) {
    throw toMissingPackage("@ai-sdk/anthropic", cause);
  }
}

/** Loads `@ai-sdk/openai-compatible`. Throws `model.missing_package`. */
export async function importOpenAiCompatible() {
  try {
    return await import("@ai-sdk/openai-compatible");
  } catch (cause) {
    throw toMissingPackage("@ai-sdk/openai-compatible", cause);
  }
}

/**
 * A `ModelError` with the code `model.missing_package`: its message has the install line if the package is not
 * installed, and says so if it cannot be loaded; the reason is the `cause`.
 */
export function toMissingPackage(packageName: string, cause: unknown): ModelError {
  const code = (cause as { code?: unknown } | null | undefined)?.code;
  const missing = code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND";
  const message = missing
    ? `this model needs the package ${packageName}: npm install ${packageName}`
    : `the package ${packageName} could not be loaded: npm install ${packageName} may repair it`;
  return new ModelError("model.missing_package", message, { cause });
}
