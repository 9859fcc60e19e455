import { randomUuid } from "./time/clock.ts";

/** Made with the first id. */
let prefix = "";
let count = 0;

/**
 * A UUID that only this process gives out: 24 characters are random, 12 are counted. For the ids of calls and their
 * messages, of which there are many; nothing may rely on an id being hard to guess.
 */
export const nextUuid = (): string => {
  prefix ||= randomUuid().slice(0, 24);
  return prefix + (++count).toString(16).padStart(12, "0");
};
