import { expect, it, onTestFinished, vi } from "vitest";
import { nextUuid, uuidCount } from "../src/index.ts";

it("an id is a UUID, and its count is one more than that of the id before", () => {
  const [first, second] = [nextUuid(), nextUuid()];
  for (const id of [first, second]) expect(id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  expect(uuidCount(second)).toBe(uuidCount(first) + 1);
});

it("another string has no count", () => {
  const id = nextUuid();
  for (const other of ["", crypto.randomUUID(), id.slice(0, -1), `${id}0`, `${id.slice(0, -1)}g`, ` ${id}`]) {
    expect([other, uuidCount(other)]).toEqual([other, 0]);
  }
});

it("ids are made where there is no randomUUID, as in a page without a secure origin", async () => {
  vi.stubGlobal("crypto", { getRandomValues: crypto.getRandomValues.bind(crypto) });
  onTestFinished(() => void vi.unstubAllGlobals());
  vi.resetModules();
  const there = await import("../src/index.ts");
  expect(there.uuidCount(there.nextUuid())).toBe(1);
  const ids = Array.from({ length: 100 }, there.randomUuid);
  const version4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
  for (const id of ids) expect(id).toMatch(version4);
  expect(new Set(ids).size).toBe(100);
});
