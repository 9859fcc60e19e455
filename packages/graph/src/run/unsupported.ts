import { GraphError } from "../errors.ts";

export const unsupported = (message: string, namespace: readonly string[] = []): GraphError => {
  const nodeName = namespace.at(-1);
  return new GraphError("suspension_in_unsupported_context", message, {
    namespace,
    ...(nodeName === undefined ? {} : { nodeName }),
  });
};

/** True for an attempt to suspend where that is not possible; it fails the whole run. */
export const isUnsupported = (error: unknown): error is GraphError =>
  GraphError.isInstance(error) && error.code === "suspension_in_unsupported_context";
