import { expect } from "vitest";

/** A condition that is looked at again and again, also on a machine that is busy. */
export const poll = <T>(read: () => T) => expect.poll(read, { timeout: 10_000, interval: 5 });
