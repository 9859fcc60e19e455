import { defineLimits, type LimitsOf } from "@harnesskit/wire";
import { maxMessageDepth } from "@harnesskit/wire/json";

/** Bounds of what is read from a host and of what is answered. */
export const hookLimits = defineLimits({
  /** Of a hook's input, as UTF-8. */
  maxInputBytes: 8 * 1024 * 1024,
  /** Levels of nesting in a hook's input. The message with its event has up to 8 more around the parts of the input. */
  maxInputDepth: { default: maxMessageDepth - 8, min: 1, max: 128 },
  /** Of a tool's result in a `post_action` event, as JSON; a larger one is left out and its size is given. */
  maxResultBytes: 64 * 1024,
  /** Characters of a reason in an answer. */
  maxReasonLength: { default: 2000, min: 40 },
});
export type HookLimits = LimitsOf<typeof hookLimits>;
