import { BufferFullError } from "@harnesskit/wire";
import { describe, expect, it } from "vitest";
import { CallQueue } from "../../src/ai-sdk/call-queue.ts";

describe("the queue of model calls", () => {
  it("is given on in the order of arrival, and nobody slips in between", async () => {
    const queue = new CallQueue(10);
    const order: string[] = [];
    const use = async (name: string) => {
      const leave = await queue.enter(undefined);
      order.push(`${name} in`);
      return leave;
    };
    const leaveFirst = await use("first");
    const second = use("second");
    const third = use("third");
    leaveFirst?.();
    const fourth = use("fourth");
    (await second)?.();
    (await third)?.();
    (await fourth)?.();
    expect(order).toEqual(["first in", "second in", "third in", "fourth in"]);
    expect(await queue.enter(undefined)).toBeTypeOf("function");
  });

  it("is bounded, and left by who gives up", async () => {
    const queue = new CallQueue(1);
    const abort = new AbortController();
    const leave = await queue.enter(undefined);
    const waiting = queue.enter(abort.signal);
    let thrown: unknown;
    await queue.enter(undefined).catch((error: unknown) => {
      thrown = error;
    });
    expect(thrown).toBeInstanceOf(BufferFullError);
    expect(thrown).toMatchObject({ code: "buffer_full", limitName: "maxQueued" });
    abort.abort();
    expect(await waiting).toBeUndefined();
    expect(await queue.enter(abort.signal)).toBeUndefined();
    leave?.();
    expect(await queue.enter(undefined)).toBeTypeOf("function");
  });
});
