import { expect, it, onTestFinished } from "vitest";
import { nextTurn } from "../../../test-kit/test-kit.ts";
import { createManualClock } from "../src/testing/index.ts";
import { settleWithin, wait } from "../src/time/index.ts";

it("a signal that many calls share leads to no warning of the process", async () => {
  const warnings: string[] = [];
  const onWarning = ({ name }: Error) => warnings.push(name);
  process.on("warning", onWarning);
  onTestFinished(() => void process.off("warning", onWarning));
  const abort = new AbortController();
  const clock = createManualClock();
  const waits = Array.from({ length: 20 }, () => [
    wait(1000, clock, abort.signal),
    settleWithin(new Promise(() => {}), { name: "call", signal: abort.signal, clock }),
  ]).flat();
  abort.abort();
  await Promise.all(waits);
  await nextTurn();
  expect(warnings).toEqual([]);
});
