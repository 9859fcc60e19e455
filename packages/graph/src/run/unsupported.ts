import { GraphError, type GraphErrorDetails } from "../errors.ts";

export const unsupported = (message: string, details: GraphErrorDetails = {}): GraphError =>
  new GraphError("suspension_in_unsupported_context", message, details);

/** True for an attempt to suspend where that is not possible; it fails the whole run. */
export const isUnsupported = (error: unknown): error is GraphError =>
  GraphError.isInstance(error) && error.code === "suspension_in_unsupported_context";
