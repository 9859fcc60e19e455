import { describe, expect, it } from "vitest";
import { strays } from "../../../scripts/lib/strays.ts";
import { quietly } from "../src/index.ts";

describe("quietly", () => {
  it("calls, and ignores what is thrown", () => {
    let calls = 0;
    quietly(() => calls++);
    quietly(() => {
      calls++;
      throw new TypeError("broken");
    });
    expect(calls).toBe(2);
  });

  it("ignores what a promise is rejected with, now or later", async () => {
    const unhandled = strays();
    quietly(() => Promise.reject(new TypeError("now")));
    quietly(async () => {
      await Promise.resolve();
      throw new TypeError("later");
    });
    expect(await unhandled()).toEqual([]);
  });

  it("ignores a thenable that fails, and one that cannot be waited for", async () => {
    const unhandled = strays();
    const handlers: unknown[] = [];
    const broken = () => {
      throw new TypeError("broken");
    };
    const note = (_done: unknown, failed: unknown) => handlers.push(failed);
    const thenables: ProxyHandler<object>[] = [{ get: () => note }, { get: () => broken }, { get: broken }];
    const hostile = thenables.map((then) => new Proxy({}, then));
    for (const value of hostile) expect(() => quietly(() => value)).not.toThrow();
    expect(handlers).toEqual([expect.any(Function)]);
    expect(await unhandled()).toEqual([]);
  });

  it("hands what failed to whom it is told, once and quietly", async () => {
    const unhandled = strays();
    const told: unknown[] = [];
    const tell = (cause: unknown) => {
      told.push(cause);
      return Promise.reject(new TypeError("nor this"));
    };
    quietly(() => {
      throw "thrown";
    }, tell);
    quietly(() => Promise.reject("rejected"), tell);
    expect(await unhandled()).toEqual([]);
    expect(told).toEqual(["thrown", "rejected"]);
  });
});
