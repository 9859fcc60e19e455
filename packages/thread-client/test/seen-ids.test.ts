import { expect, it } from "vitest";
import { SeenIds } from "../src/seen-ids.ts";

it("notices a repeated id, and forgets the oldest beyond the limit", () => {
  const seen = new SeenIds(2);
  expect(["a", "b", "a", "c", "b", "c", "a"].map((id) => seen.add(id))).toEqual([
    true,
    true,
    false,
    true,
    false,
    false,
    true,
  ]);
});
