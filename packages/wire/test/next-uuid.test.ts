import { expect, it, onTestFinished, vi } from "vitest";
import { nextUuid } from "../src/index.ts";

it("an id is a UUID, and another one than the one before", () => {
  const [first, second] = [nextUuid(), nextUuid()];
  for (const id of [first, second]) expect(id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  expect(second).not.toBe(first);
});

it("ids are made where there is no randomUUID, as in a page without a secure origin", async () => {
  vi.stubGlobal("crypto", { getRandomValues: crypto.getRandomValues.bind(crypto) });
  onTestFinished(() => void vi.unstubAllGlobals());
  vi.resetModules();
  const there = await import("../src/index.ts");
  expect(there.nextUuid()).toMatch(/-000000000001$/);
  const ids = Array.from({ length: 100 }, there.randomUuid);
  const version4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
  for (const id of ids) expect(id).toMatch(version4);
  expect(new Set(ids).size).toBe(100);
});
