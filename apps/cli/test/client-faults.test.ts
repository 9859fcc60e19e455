import { HarnessError, InvalidMessageError } from "@harnesskit/wire";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ClientFaults } from "../src/serve/client-faults.ts";

const fault = new InvalidMessageError("not_json", "a message is not JSON");

const begin = () => {
  const lines: string[] = [];
  return { lines, faults: new ClientFaults("serve", (line) => lines.push(line)) };
};

describe("the faults of clients", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    vi.clearAllTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("are told thirty times a minute", async () => {
    const { lines, faults } = begin();
    for (let count = 0; count < 4_261; count++) faults.tell(fault);
    expect(lines).toHaveLength(30);
    expect(lines[0]).toBe("serve: a message is not JSON (invalid_message)");
    await vi.advanceTimersByTimeAsync(60_000);
    expect(lines.slice(30)).toEqual(["serve: … and 4,231 more of clients"]);
    // Of its own: what other tests have left behind may have timers too.
    const others = vi.getTimerCount();
    faults.tell(fault);
    expect(vi.getTimerCount()).toBe(others + 1);
    expect(lines).toHaveLength(32);
    faults.end();
    expect(lines).toHaveLength(32);
    expect(vi.getTimerCount()).toBe(others);
  });

  it("do not hide what fails in the server itself", () => {
    const { lines, faults } = begin();
    for (let count = 0; count < 100; count++) faults.tell(fault);
    faults.tell(new HarnessError("store_failed", "the disk is full"));
    expect(lines.at(-1)).toBe("serve: the disk is full (store_failed)");
  });
});
