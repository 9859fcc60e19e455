import { InvalidArgumentError } from "@harnesskit/wire";

/** Timers take no more than 31 bits. */
const maxTimerMs = 2 ** 31 - 1;

/** Throws `invalid_argument` for what is no integer of at least `least`. */
export const demandCount = (value: number, name: string, least = 1): number => {
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new InvalidArgumentError(`${name} is no integer of at least ${least}`);
};

/** Throws `invalid_argument` for what is no duration that a timer can take. */
export const demandDuration = (value: number, name: string): number => {
  if (typeof value === "number" && value >= 0 && value <= maxTimerMs) return value;
  throw new InvalidArgumentError(`${name} is no duration in milliseconds`);
};
