import { StoreError } from "@harnesskit/graph";
import { HarnessError } from "@harnesskit/wire";

/** What a call came to: a value, or the class, code and reason of its error. */
export const outcomeOf = async (call: Promise<unknown>): Promise<unknown> => {
  try {
    return { value: await call };
  } catch (error) {
    if (!HarnessError.isInstance(error)) throw error;
    const { name, code } = error;
    const reason = error instanceof StoreError ? error.reason : undefined;
    return reason === undefined ? { name, code } : { name, code, reason };
  }
};

/** The outcome of a call that the file is in the way of. */
export const failed = (reason: string, code = "store_failed") => ({ name: "StoreError", code, reason });
