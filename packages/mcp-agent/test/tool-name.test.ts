import { ToolNameSchema } from "@harnesskit/protocol/runtime";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toMcpToolName } from "../src/index.ts";
import { effectsOf } from "../src/mcp-tool.ts";
import { toAgentToolName } from "../src/tool-name.ts";

describe("names of tools", () => {
  it("stay as they are where they fit, and are escaped where not", () => {
    expect(toAgentToolName("read_file")).toBe("read_file");
    expect(toAgentToolName("a.b-c_d")).toBe("a.b-c_d");
    expect(toAgentToolName("a/b")).toBe("a_x2fb");
    expect(toAgentToolName("-first")).toBe("_x2dfirst");
    expect(toAgentToolName("_x2f")).toBe("_x5fx2f");
    expect(toAgentToolName("ü")).toBe("_xc3_xbc");
  });

  it("are not offered where they are empty, too long or not valid Unicode", () => {
    expect(toAgentToolName("")).toBeUndefined();
    expect(toAgentToolName("x".repeat(129))).toBeUndefined();
    expect(toAgentToolName("/".repeat(64))).toBeUndefined();
    expect(toAgentToolName("\ud800")).toBeUndefined();
  });

  it("are valid, and can be turned back, so that no two become the same", () => {
    const parts = fc.constantFrom("_", "x", "_x", "2f", "_x2f", "/", "-", ".", "ü", "a", "F", "😀");
    const names = fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.array(parts, { maxLength: 20 }).map((all) => all.join("")),
    );
    void fc.assert(
      fc.property(names, (name) => {
        const encoded = toAgentToolName(name);
        if (encoded === undefined) return;
        expect(ToolNameSchema.safeParse(encoded).success).toBe(true);
        expect(encoded).toMatch(/^[A-Za-z0-9_.-]{1,128}$/);
        expect(toMcpToolName(encoded)).toBe(name);
      }),
    );
  });
});

describe("hints of tools", () => {
  it("say the worst where they are missing", () => {
    expect(effectsOf()).toEqual({
      effects: "execute",
      permissions: ["mcp.destroy", "mcp.open_world"],
      tags: ["mcp:destructive", "mcp:open-world"],
    });
  });

  it.each([
    [{ readOnlyHint: true }, "read", ["mcp.read", "mcp.open_world"]],
    [{ readOnlyHint: true, openWorldHint: false }, "read", ["mcp.read"]],
    [{ readOnlyHint: true, destructiveHint: true }, "execute", ["mcp.destroy", "mcp.open_world"]],
    [{ readOnlyHint: false, destructiveHint: false }, "write", ["mcp.write", "mcp.open_world"]],
    [{ destructiveHint: false, openWorldHint: false, idempotentHint: true }, "write", ["mcp.write"]],
    [{ idempotentHint: true }, "execute", ["mcp.destroy", "mcp.open_world"]],
  ])("map %j to %s", (hints, effects, permissions) => {
    expect(effectsOf(hints)).toMatchObject({ effects, permissions });
  });
});
