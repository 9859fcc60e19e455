import { UiParts } from "@harnesskit/wire/ui-message";
import { describe, expect, it } from "vitest";

const typesOf = (parts: UiParts<never>) => parts.take().map(({ type }) => type);

describe("the parts of a message of useChat", () => {
  it("keep a step open while a text of it is, also where a call of the next one begins", () => {
    const parts = new UiParts<never>();
    parts.beginText("t", "text", 0);
    parts.call("c", "read", {}, 1);
    expect(typesOf(parts)).toEqual(["start-step", "text-start", "tool-input-available"]);
    parts.endText("t", "whole");
    parts.call("d", "read", {}, 1);
    expect(typesOf(parts)).toEqual([
      "text-delta",
      "text-end",
      "finish-step",
      "start-step",
      "tool-input-available",
    ]);
    expect(parts.parts[1]).toMatchObject({ type: "text", text: "whole", state: "done" });
  });

  it("say a call once, and again where another input runs than was shown", () => {
    const parts = new UiParts<never>();
    for (const path of ["a", "a", "b"]) parts.call("c", "write", { path });
    parts.succeed("c", "written");
    parts.fail("c", "too late");
    expect(typesOf(parts)).toEqual([
      "start-step",
      "tool-input-available",
      "tool-input-available",
      "tool-output-available",
    ]);
    expect(parts.parts).toMatchObject([{}, { input: { path: "b" }, state: "output-available" }]);
  });
});
