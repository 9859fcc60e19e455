import { describe, expect, it } from "vitest";
import { isInside, sha256Digest, sha256Hex } from "../src/index.ts";

describe("isInside", () => {
  it.each([
    ["/a", "/a", true],
    ["/a", "/a/b/c", true],
    ["/a", "/a/..b", true],
    ["/a", "/", false],
    ["/a", "/ab", false],
    ["/a", "/b/a", false],
    ["/a/b", "/a/b/../c", false],
  ])("%s and %s: %s", (directory, path, expected) => {
    expect(isInside(directory, path)).toBe(expected);
  });
});

it("SHA-256 is written as the standard's example says", () => {
  const abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  expect(sha256Hex("abc")).toBe(abc);
  expect(sha256Digest(new TextEncoder().encode("abc"))).toBe(`sha256:${abc}`);
});
