import { describe, expect, it } from "vitest";
import { shownSent } from "../src/run/shown-step.ts";

describe("what was sent before a check", () => {
  const wish = '"metadata":{"conformance":{"fail":""}}';

  it("is shown as it is where it fits", () => {
    expect(shownSent(`{${wish}}`, 100)).toBe(`{${wish}}`);
  });

  it("keeps the wish to the test handler where a long request is cut", () => {
    const shown = shownSent(`{"payload":"${"x".repeat(5000)}",${wish}}`, 120);
    expect(shown.length).toBeLessThanOrEqual(120);
    expect(shown).toContain('{"payload":"x');
    expect(shown).toContain('conformance":{"fail":""}');
  });

  it("is cut at its end where nothing was asked of the handler", () => {
    expect(shownSent("x".repeat(200), 120)).toBe("x".repeat(120));
  });
});
