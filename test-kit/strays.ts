import { onTestFinished } from "vitest";

/** Collects unhandled rejections from now on. Returns a function that reports them. */
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
