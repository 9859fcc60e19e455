import { quietly } from "@harnesskit/wire";

/** A callback that cannot fail: what it throws has nobody to be reported to, and must not decide what becomes of a turn. */
export const guarded =
  <T>(callback: ((value: T) => void) | undefined) =>
  (value: T): void => {
    quietly(() => callback?.(value));
  };
