import { describe, expect, it } from "vitest";
import { rowContent } from "../src/timeline/row-content.ts";

const rules = { maxLength: 10_000, secretFields: new Set<string>() };

describe("what a row keeps", () => {
  it("has no secrets, by shape and by the name of the field", () => {
    const value = {
      command: "curl -H 'Authorization: Bearer abcdefgh12345678ijkl' x",
      password: "hunter2",
      n: { api_key: 12 },
    };
    const { value: kept } = rowContent(value, rules);
    expect(JSON.stringify(kept)).not.toMatch(/abcdefgh12345678ijkl|hunter2|12\}/);
    expect(kept).toMatchObject({ password: "[redacted]", n: { api_key: "[redacted]" } });
  });

  it("is cut to its size, and says so", () => {
    const kept = rowContent(
      { text: "x".repeat(50_000), list: Array.from({ length: 5000 }, () => "y") },
      rules,
    );
    expect(JSON.stringify(kept.value).length).toBeLessThanOrEqual(12_000);
    expect(kept.isCut).toBe(true);
    const deep = rowContent(
      Array.from({ length: 40 }).reduce<unknown>((inner) => ["é", inner], 1),
      rules,
    );
    expect(deep.isCut).toBe(true);
  });
});
