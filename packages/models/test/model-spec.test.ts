import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ModelError, parseModelSpec, toModelReference, toModelSpec } from "../src/index.ts";

function errorOf(action: () => unknown): ModelError {
  try {
    action();
  } catch (error) {
    if (ModelError.isInstance(error)) return error;
    throw error;
  }
  return expect.unreachable("it did not throw");
}

describe("parseModelSpec", () => {
  it.each([
    ["offline", { provider: "offline" }],
    [" offline:planner ", { provider: "offline" }],
    ["anthropic:claude-sonnet-4", { provider: "anthropic", model: "claude-sonnet-4" }],
    ["openai:ft:gpt:org::id", { provider: "openai", model: "ft:gpt:org::id" }],
    [
      "openai-compatible:http://127.0.0.1:11434/v1/#llama3.2:3b",
      { provider: "openai-compatible", baseURL: "http://127.0.0.1:11434/v1", model: "llama3.2:3b" },
    ],
  ])("%s", (spec, parsed) => {
    expect(parseModelSpec(spec)).toEqual(parsed);
  });

  it.each([
    "",
    "gpt",
    "offline:other",
    "anthropic:",
    "openai:a b",
    "openai:a\u0000",
    "foo:bar",
    "OFFLINE",
    "openai-compatible:http://x/v1",
    "openai-compatible:#m",
    "openai-compatible:ftp://x#m",
    "openai-compatible:http://x/v1?key=1#m",
    "openai-compatible:http://x/v1#",
    `openai:${"m".repeat(3_000)}`,
  ])("refuses %j with model.unknown", (spec) => {
    const error = errorOf(() => parseModelSpec(spec));
    expect(error.code).toBe("model.unknown");
    expect(error.message).toMatch(/offline, anthropic:MODEL|at most 2048 characters/);
  });

  it("names an unknown provider, and never what may be a secret", () => {
    expect(errorOf(() => parseModelSpec("mistral:x")).message).toContain("the provider mistral is not known");
    for (const spec of [
      "sk-ant-S3cret",
      "sk-S3cret:x",
      "openai-compatible:http://u:S3cret@h/v1#m",
      "openai-compatible:http://u:S3cret@:x#m",
    ]) {
      const error = errorOf(() => parseModelSpec(spec));
      expect(error.code).toBe("model.unknown");
      expect(`${error.message} ${String(error.cause)} ${error.stack}`).not.toContain("S3cret");
    }
  });

  it("takes any text without any other error", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.webUrl().map((url) => `openai-compatible:${url}#m`),
        ),
        (text) => {
          try {
            expect(parseModelSpec(text).provider).toMatch(/^(?:offline|anthropic|openai|openai-compatible)$/);
          } catch (error) {
            expect(ModelError.isInstance(error) && error.code).toBe("model.unknown");
          }
        },
      ),
    );
  });
});

describe("model references", () => {
  it("become specs", () => {
    expect(toModelSpec({ providerID: "offline", modelID: "planner" })).toBe("offline");
    expect(toModelSpec({ providerID: "anthropic", modelID: "claude-x" })).toBe("anthropic:claude-x");
    expect(toModelSpec({ providerID: "openai-compatible", modelID: "http://h:1/v1#m" })).toBe(
      "openai-compatible:http://h:1/v1#m",
    );
  });

  it.each([
    { providerID: "nobody", modelID: "m" },
    { providerID: "offline", modelID: "m" },
    { providerID: "anthropic:x", modelID: "" },
    { providerID: "", modelID: "" },
  ])("are refused with model.unknown: %j", (reference) => {
    expect(errorOf(() => toModelSpec(reference)).code).toBe("model.unknown");
  });

  it("go there and back", () => {
    const model = fc.stringMatching(/^[a-z0-9][a-z0-9._:/-]{0,30}$/);
    const spec = fc.oneof(
      fc.constant("offline"),
      fc
        .tuple(fc.constantFrom("anthropic:", "openai:", "openai-compatible:http://h:8080/v1#"), model)
        .map((parts) => parts.join("")),
    );
    fc.assert(
      fc.property(spec, (text) => {
        expect(toModelSpec(toModelReference(text))).toBe(text);
      }),
    );
  });
});
