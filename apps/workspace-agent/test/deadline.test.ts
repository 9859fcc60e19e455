import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { Deadline } from "../src/deadline.ts";

it("aborts its signal after the time although memory was collected meanwhile", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const deadline = new Deadline(new AbortController().signal, 100);
  await expect
    .poll(
      () => {
        collect();
        return deadline.signal.aborted;
      },
      { interval: 10 },
    )
    .toBe(true);
  expect(() => deadline.throwIfOver()).toThrow(expect.objectContaining({ code: "tool.timeout" }));
});
