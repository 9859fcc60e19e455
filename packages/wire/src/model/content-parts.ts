/** The parts of a stream of the AI SDK that the model itself has said. */
export const contentParts: ReadonlySet<string> = new Set([
  "text-start",
  "text-delta",
  "reasoning-start",
  "reasoning-delta",
  "tool-input-start",
  "tool-input-delta",
  "tool-call",
]);
