import { describe, expect, it } from "vitest";
import { findHost, versionProblem } from "../src/index.ts";

describe("the version of a host", () => {
  const claude = findHost("claude-code");

  it("is a problem where it is older than the oldest one whose hooks protect, number by number", () => {
    expect(versionProblem(claude, "2.1.285")).toBe(
      "NOT PROTECTED: Claude Code 2.1.285 is older than 2.1.295: it ignores `onFailure`, and runs the tool when a hook crashes, is missing or takes too long. Update it",
    );
    for (const old of ["2.1.30", "2.0.999", "1.9.999", "2.1", "2.1.294-beta.1"])
      expect(versionProblem(claude, old)).toContain(`${old} is older than 2.1.295`);
  });

  it("is none where it is new enough, or where no minimum is known", () => {
    for (const version of ["2.1.295", "2.1.1000", "2.2.0", "10.0.0", "2.1.295-beta.1"])
      expect(versionProblem(claude, version)).toBeUndefined();
    expect(versionProblem(findHost("cursor"), "0.0.1")).toBeUndefined();
  });
});
