import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { nextTurn } from "../../../scripts/lib/test-kit.ts";
import { quietKeyboard } from "../src/terminal/keyboard.ts";

class FakeKeyboard extends PassThrough {
  isRaw = false;

  setRawMode(isRaw: boolean): void {
    this.isRaw = isRaw;
  }
}

const begin = () => {
  const keyboard = new FakeKeyboard();
  const abort = new AbortController();
  const seen: string[] = [];
  const start = () => void quietKeyboard(keyboard, abort.signal).then((how) => seen.push(how));
  return { keyboard, abort, seen, start };
};

describe("a keyboard before a question", () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    vi.clearAllTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("is quiet once nothing was typed for 200 ms, and what was typed before is gone", async () => {
    const { keyboard, seen, start } = begin();
    keyboard.write("kk");
    start();
    expect(keyboard.isRaw).toBe(true);
    await vi.advanceTimersByTimeAsync(150);
    keyboard.write("\u001b[A");
    await nextTurn();
    await vi.advanceTimersByTimeAsync(199);
    expect(seen).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    await vi.waitFor(() => expect(seen).toEqual(["quiet"]));
    expect(keyboard.isRaw).toBe(true);
    expect(keyboard.read()).toBeNull();
    expect(keyboard.listenerCount("data")).toBe(0);
  });

  it("waits on where something arrives when the time is just over", async () => {
    const { keyboard, seen, start } = begin();
    start();
    vi.advanceTimersByTime(200);
    keyboard.emit("data", "k");
    await nextTurn();
    expect(seen).toEqual([]);
    await vi.advanceTimersByTimeAsync(200);
    await vi.waitFor(() => expect(seen).toEqual(["quiet"]));
  });

  it.each<[string, (typing: ReturnType<typeof begin>) => void]>([
    ["interrupted", ({ keyboard }) => keyboard.write("k\u0003")],
    ["aborted", ({ abort }) => abort.abort()],
  ])("is given back as it was when it is %s", async (how, act) => {
    const typing = begin();
    typing.start();
    act(typing);
    await vi.waitFor(() => expect(typing.seen).toEqual([how]));
    expect(typing.keyboard.isRaw).toBe(false);
    expect(typing.keyboard.isPaused()).toBe(true);
    expect(typing.keyboard.listenerCount("data")).toBe(0);
    // Nothing of it is left that would still say something.
    await vi.advanceTimersByTimeAsync(1_000);
    expect(typing.seen).toEqual([how]);
  });

  it("is not touched when the question is over already", async () => {
    const { keyboard, abort, seen, start } = begin();
    abort.abort();
    start();
    await vi.waitFor(() => expect(seen).toEqual(["aborted"]));
    expect(keyboard.listenerCount("data")).toBe(0);
  });

  it("that has ended is quiet at once", async () => {
    const { keyboard, seen, start } = begin();
    start();
    keyboard.end();
    await vi.waitFor(() => expect(seen).toEqual(["quiet"]));
  });
});
