import type { JsonObject } from "@harnesskit/protocol/envelope";
import { clip } from "./clip.ts";

/** An error as a report tells it: its name, its code where it has one, its message up to a length. No stack. */
export const describeError = (error: unknown, maxBytes: number): JsonObject => {
  if (!(error instanceof Error)) {
    return { name: "unknown", message: clip(typeof error === "string" ? error : "", maxBytes) };
  }
  const { code } = error as { code?: unknown };
  return {
    name: clip(error.name, 200),
    ...((typeof code === "string" || typeof code === "number") && { code: clip(String(code), 200) }),
    message: clip(error.message, maxBytes),
  };
};
