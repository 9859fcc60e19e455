import { onTestFinished } from "vitest";

/** Notes what is rejected and handled by nobody from now on; gives a function that tells it, once that was found out. */
export const strays = (): (() => Promise<unknown[]>) => {
  const seen: unknown[] = [];
  const note = (reason: unknown) => seen.push(reason);
  process.on("unhandledRejection", note);
  onTestFinished(() => void process.off("unhandledRejection", note));
  return async () => {
    await new Promise(setImmediate);
    return seen;
  };
};
