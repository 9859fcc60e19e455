import { ModelError } from "./model-error.ts";

/**
 * Loads an optional provider package.
 *
 * @throws ModelError `model.missing_package` with the install line if the package is not there, and with the
 *   same code if it is there and cannot be loaded; the reason is the `cause`.
 */
export async function importProvider<T>(packageName: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    const code = (cause as { code?: unknown } | null | undefined)?.code;
    const missing = code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND";
    const message = missing
      ? `this model needs the package ${packageName}: npm install ${packageName}`
      : `the package ${packageName} could not be loaded: npm install ${packageName} may repair it`;
    throw new ModelError("model.missing_package", message, { cause });
  }
}
