import { describe, expect, it, onTestFinished } from "vitest";
import { Supervision } from "../src/supervise/supervision.ts";
import { startHarness } from "./ai-sdk/in-process.ts";
import { clientOf } from "./support/client.ts";
import { FakeHarness } from "./support/fake-harness.ts";

/** Counts the calls of a callback that always fails later, and what was rejected and handled by nobody. */
const failing = () => {
  const calls: string[] = [];
  const strays: unknown[] = [];
  const note = (reason: unknown) => strays.push(reason);
  process.on("unhandledRejection", note);
  onTestFinished(() => void process.off("unhandledRejection", note));
  const callback = (name: string) => async () => {
    calls.push(name);
    await Promise.resolve();
    throw new TypeError(`${name} is broken`);
  };
  const unhandled = async () => {
    await new Promise(setImmediate);
    return strays;
  };
  return { calls, callback, unhandled };
};

describe("a callback that returns a promise", () => {
  it("may fail: onState, onFailOpen and onLoss", async () => {
    const { calls, callback, unhandled } = failing();
    const harness = new FakeHarness();
    const client = clientOf(harness, {
      reconnect: false,
      failOpen: { pre_action: { decision: "allow" } },
      onFailOpen: callback("onFailOpen"),
      onLoss: callback("onLoss"),
    });
    client.onState(callback("onState"));
    await client.connect();
    harness.last.wire.kill();
    await expect.poll(() => client.state).toBe("lost");
    const verdict = await client.decide("pre_action", {});
    expect(verdict).toMatchObject({ decision: { decision: "allow" }, failedOpen: true });
    client.notify("post_action", {});
    await client.close();
    expect(await unhandled()).toEqual([]);
    expect(new Set(calls)).toEqual(new Set(["onState", "onFailOpen", "onLoss"]));
  });

  it("may fail: onError, of the client and of a supervision", async () => {
    const { calls, callback, unhandled } = failing();
    const { client } = await startHarness({}, { client: { onError: callback("onError") } });
    client.startHeartbeat(1000, () => {
      throw new TypeError("no state");
    });
    const supervision = new Supervision(client, { onError: callback("report") });
    supervision.report("post_action", { size: 1n as unknown as number });
    expect(await unhandled()).toEqual([]);
    expect(calls).toEqual(["onError", "report"]);
  });
});
