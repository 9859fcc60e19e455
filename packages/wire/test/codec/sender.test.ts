import { describe, expect, it } from "vitest";
import { senderOf, withSender } from "../../src/index.ts";

describe("a function that a transport calls in the place of another", () => {
  const handle = async (text: string) => `read ${text}`;
  const toSend = (text: string) => `sent ${text}`;

  it("is found with that one, and not with one that wraps it", async () => {
    const both = withSender((text: string) => handle(text), toSend);
    expect([await both("a"), senderOf(both)("a")]).toEqual(["read a", "sent a"]);
    const wrapped = (text: string) => both(text);
    expect(senderOf(wrapped)).toBe(wrapped);
    expect(senderOf({ ...{ handle: both } }.handle)).toBe(toSend);
  });

  it("is the function itself where none was left", () => {
    expect(senderOf(handle)).toBe(handle);
  });
});
