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

it("can be loaded where there is no randomUUID, as in a page without a secure origin", async () => {
  vi.stubGlobal("crypto", { getRandomValues: crypto.getRandomValues });
  onTestFinished(() => void vi.unstubAllGlobals());
  vi.resetModules();
  const { uuidCount: countThere } = await import("../src/next-uuid.ts");
  expect(countThere("")).toBe(0);
});
