import { BufferFullError } from "@harnesskit/wire";
import { describe, expect, it } from "vitest";
import { Lane } from "../../src/ai-sdk/lane.ts";

describe("a lane", () => {
  it("is given on in the order of arrival, and nobody slips in between", async () => {
    const lane = new Lane(10);
    const order: string[] = [];
    const use = async (name: string) => {
      const leave = await lane.enter(undefined);
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
    expect(await lane.enter(undefined)).toBeTypeOf("function");
  });

  it("is bounded, and left by who gives up", async () => {
    const lane = new Lane(1);
    const abort = new AbortController();
    const leave = await lane.enter(undefined);
    const waiting = lane.enter(abort.signal);
    let thrown: unknown;
    await lane.enter(undefined).catch((error: unknown) => {
      thrown = error;
    });
    expect(thrown).toBeInstanceOf(BufferFullError);
    expect(thrown).toMatchObject({ code: "buffer_full", limitName: "maxQueued" });
    abort.abort();
    expect(await waiting).toBeUndefined();
    expect(await lane.enter(abort.signal)).toBeUndefined();
    leave?.();
    expect(await lane.enter(undefined)).toBeTypeOf("function");
  });
});
