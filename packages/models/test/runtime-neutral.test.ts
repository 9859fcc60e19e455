import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import * as surface from "../src/index.ts";
import { ModelError } from "../src/index.ts";

const source = fileURLToPath(new URL("../src", import.meta.url));

describe("the package", () => {
  it("imports nothing but its own files and, when asked, the provider packages", async () => {
    const names = (await readdir(source, { recursive: true })).filter((name) => name.endsWith(".ts"));
    const imports = new Set<string>();
    for (const name of names) {
      const text = await readFile(join(source, name), "utf8");
      for (const [statement, specifier] of text.matchAll(
        /^(?:import|export)\b[^;]*?\bfrom "([^"]+)"|\bimport\("([^"]+)"\)/gm,
      )) {
        if (statement.startsWith("import type")) continue;
        const target = specifier ?? /"([^"]+)"/.exec(statement)?.[1] ?? "";
        if (!target.startsWith(".")) imports.add(target);
      }
    }
    expect(names.length).toBeGreaterThan(4);
    expect([...imports].sort()).toEqual([
      "@ai-sdk/anthropic",
      "@ai-sdk/openai-compatible",
      "@harnesskit/models-offline",
    ]);
  });

  it("exports exactly its surface", () => {
    expect(Object.keys(surface).sort()).toEqual([
      "ModelError",
      "costOf",
      "createModel",
      "modelPrices",
      "parseModelSpec",
      "toModelReference",
      "toModelSpec",
    ]);
  });

  it("recognises its error from another copy of the package, and no other error", () => {
    const copy = Object.assign(new Error("x"), {
      name: "ModelError",
      [Symbol.for("harnesskit.error")]: true,
    });
    expect(ModelError.isInstance(copy)).toBe(true);
    for (const other of [new Error("x"), null, undefined, "ModelError", { name: "ModelError" }]) {
      expect(ModelError.isInstance(other)).toBe(false);
    }
  });
});
