import { describe, expect, it } from "vitest";
import { strays } from "../../../test-kit/strays.ts";
import { callSafely } from "../src/index.ts";

describe("callSafely", () => {
  it("ignores what a promise is rejected with, now or later", async () => {
    const unhandled = strays();
    callSafely(() => Promise.reject(new TypeError("now")));
    callSafely(async () => {
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
    for (const value of hostile) expect(() => callSafely(() => value)).not.toThrow();
    expect(handlers).toEqual([expect.any(Function)]);
    expect(await unhandled()).toEqual([]);
  });

  it("passes what failed to onFailure, once, and ignores what that throws", async () => {
    const unhandled = strays();
    const told: unknown[] = [];
    const tell = (cause: unknown) => {
      told.push(cause);
      return Promise.reject(new TypeError("nor this"));
    };
    callSafely(() => {
      throw "thrown";
    }, tell);
    callSafely(() => Promise.reject("rejected"), tell);
    expect(await unhandled()).toEqual([]);
    expect(told).toEqual(["thrown", "rejected"]);
  });
});
