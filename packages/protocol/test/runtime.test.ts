import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { AgentToolStreamSchema, CoreToolCallSchema, CoreToolCancelSchema } from "../src/runtime/calls.ts";
import * as runtime from "../src/runtime/index.ts";
import { RestartPolicySchema } from "../src/runtime/manifest.ts";
import { CoreWelcomeSchema } from "../src/runtime/session.ts";
import { publishedExamples, runtimeDocuments } from "./runtime-documents.ts";

const messages: Record<string, z.ZodType> = { ...runtime.agentMessages, ...runtime.coreMessages };
const ping = { v: 1, type: "core.ping", id: "m1", ts: "2026-01-16T12:00:00Z", payload: {} };
const accepts = (schema: z.ZodType, document: unknown) => schema.safeParse(document).success;

const documentsOf = (type: string) =>
  Object.values(runtimeDocuments)
    .flat()
    .filter(
      (document): document is typeof ping =>
        typeof document === "object" && document !== null && "type" in document && document.type === type,
    );

describe("the runtime schemas", () => {
  it("let a message have an actor, and an error more than its code and message", () => {
    const actors = ["human", "agent", "system"].map((type) => ({ type, id: "a" }));
    for (const actor of [...actors, { type: "human", id: "a", display: "A" }]) {
      expect(runtime.CorePingSchema.parse({ ...ping, actor })).toEqual({ ...ping, actor });
    }
    expect(accepts(runtime.CorePingSchema, { ...ping, actor: { type: "robot", id: "a" } })).toBe(false);
    const brief = { code: "tool.failed", message: "" };
    for (const error of [
      brief,
      { ...brief, details: {}, retryable: true, where: "core.router", debug: {} },
    ]) {
      expect(runtime.CorePingSchema.parse({ ...ping, error })).toEqual({ ...ping, error });
    }
    for (const wrong of [
      { message: "" },
      { code: "" },
      { code: 1, message: "" },
      { ...brief, retryable: "no" },
    ]) {
      expect([wrong, accepts(runtime.CorePingSchema, { ...ping, error: wrong })]).toEqual([wrong, false]);
    }
  });

  it.each(Object.keys(messages))(
    "take %s only with the fields of the envelope, and only in version 1",
    (type) => {
      const [document] = documentsOf(type);
      for (const change of [
        { v: 2 },
        { v: "1" },
        { v: 1.5 },
        { id: "" },
        { id: 1 },
        { ts: "now" },
        { payload: [] },
      ]) {
        expect([change, messages[type]?.safeParse({ ...document, ...change }).success]).toEqual([
          change,
          false,
        ]);
      }
      expect(messages[type]?.safeParse({ ...document, type: `${type}.other` }).success).toBe(false);
    },
  );

  it("take a call only with a request_id", () => {
    const { request_id: _left, ...call } = publishedExamples["core.tool.call"];
    expect(accepts(CoreToolCallSchema, call)).toBe(false);
  });

  it.each([null, [], "text", 1, undefined])("refuse the input %j of a call", (input) => {
    const call = publishedExamples["core.tool.call"];
    expect(accepts(CoreToolCallSchema, { ...call, payload: { ...call.payload, input } })).toBe(false);
  });

  it("tell a welcome from a refusal by its error", () => {
    const [welcome] = runtimeDocuments.CoreWelcomeSchema ?? [];
    for (const document of runtimeDocuments.CoreRefusalSchema ?? []) {
      expect(accepts(CoreWelcomeSchema, document)).toBe(false);
    }
    expect(accepts(runtime.CoreRefusalSchema, welcome)).toBe(false);
  });

  it.each([
    ["a stream that starts at 0", { seq: 0 }],
    ["an unheard-of channel", { channel: "stdin" }],
    ["json on a channel of text", { data: { json: {} } }],
    ["text as a partial result", { channel: "partial_result" }],
    ["a partial result that is no object", { channel: "partial_result", data: { json: [1] } }],
  ])("refuse %s", (_what, change) => {
    const payload = { call_id: "c1", seq: 1, channel: "stdout", data: { text: "" } };
    const document = { ...ping, type: "agent.tool.stream", payload };
    expect(accepts(AgentToolStreamSchema, document)).toBe(true);
    expect(accepts(AgentToolStreamSchema, { ...document, payload: { ...payload, ...change } })).toBe(false);
  });

  it.each([
    "read",
    "/read",
    "a/",
    "a/b/c",
    "a/b c",
    "../b",
    "a/é",
    "a\u200b/b",
    `a/${"b".repeat(129)}`,
    "a/b\n",
  ])("refuse the tool id %j", (id) => {
    expect(accepts(runtime.ToolIdSchema, id)).toBe(false);
  });

  it("take a long text that people read, but no long id", () => {
    const long = "x".repeat(100_000);
    const cancel = { ...ping, type: "core.tool.cancel", payload: { call_id: "c1", reason: long } };
    expect(accepts(CoreToolCancelSchema, cancel)).toBe(true);
    expect(accepts(runtime.CorePingSchema, { ...ping, id: "x".repeat(256) })).toBe(true);
    expect(accepts(runtime.CorePingSchema, { ...ping, id: "x".repeat(257) })).toBe(false);
  });
});

describe("the manifest", () => {
  const manifest = { id: "a", version: "1.0.0", command: ["node"] };

  it("has a semantic version", () => {
    const isRead = (version: string) => accepts(runtime.AgentManifestSchema, { ...manifest, version });
    expect(["1.0.0", "0.0.1-rc.1+b.5"].map(isRead)).toEqual([true, true]);
    expect(["1", "1.0", "v1.0.0", "1.02.0", "", "1.0.0 "].map(isRead)).toEqual(Array(6).fill(false));
  });

  it.each([
    ["a slash in its id", { id: "a/b" }],
    ["no command", { command: [] }],
    ["an empty program", { command: ["", "x"] }],
    ["a command for a shell", { command: "node agent.mjs" }],
    ["an assignment as a variable's name", { env: ["A=1"] }],
    ["an unheard-of restart policy", { restart: { policy: "sometimes" } }],
    ["no calls at all", { limits: { max_inflight_requests: 0 } }],
  ])("with %s is refused", (_what, change) => {
    expect(accepts(runtime.AgentManifestSchema, manifest)).toBe(true);
    expect(accepts(runtime.AgentManifestSchema, { ...manifest, ...change })).toBe(false);
  });

  it("leaves defaults to the core that reads it", () => {
    expect(runtime.AgentManifestSchema.parse(manifest)).toStrictEqual(manifest);
    expect(RestartPolicySchema.parse(runtime.defaultRestartPolicy)).toStrictEqual({
      policy: "on-failure",
      initial_backoff_ms: 200,
      max_backoff_ms: 30_000,
      max_burst: 5,
      burst_window_ms: 60_000,
      stable_after_ms: 30_000,
    });
  });
});

describe("the literals of the runtime protocol", () => {
  it("are this version, these limits and names", () => {
    expect(runtime.RUNTIME_PROTOCOL_VERSION).toBe(1);
    expect(runtime.defaultRuntimeLimits).toStrictEqual({
      max_frame_bytes: 4_194_304,
      max_inflight_requests: 256,
      max_tool_input_bytes: 1_048_576,
      max_tool_output_bytes: 1_048_576,
    });
    expect(runtime.agentEnvironment).toStrictEqual({
      socket: "HARNESS_AGENT_SOCKET",
      token: "HARNESS_SESSION_TOKEN",
      launchId: "HARNESS_LAUNCH_ID",
      heartbeatIntervalMs: "HARNESS_HEARTBEAT_INTERVAL_MS",
      maxFrameBytes: "HARNESS_MAX_FRAME_BYTES",
    });
    expect(runtime.AGENT_MANIFEST_FILE).toBe("opensentience.agent.json");
  });
});

const codesIn = (cell: string | undefined) =>
  [...(cell ?? "").matchAll(/`([^`]+)`/g)].map(([, code]) => code);

/** The rows of a page's tables whose first column is a code of the runtime protocol, as the codes in each column. */
const rowsOf = (page: string) =>
  readFileSync(new URL(page, import.meta.url), "utf8")
    .split("\n")
    .filter((line) => /^\| `(?:protocol|tool|agent|core)\.\w+[\w.]*` \|/.test(line))
    .map((line) => line.split("|").slice(1, -1).map(codesIn));

interface PayloadRules {
  readonly required?: string[];
  readonly oneOf?: { readonly required: string[] }[];
}

const requiredIn = (schema: z.ZodType | undefined) => {
  if (schema === undefined) return undefined;
  const rules = z.toJSONSchema(schema, { io: "input" }).properties?.payload as PayloadRules;
  return rules.required ?? rules.oneOf?.[0]?.required ?? [];
};

describe("what is written about the runtime protocol", () => {
  it("lists every error code with its name in the README", () => {
    expect(rowsOf("../README.md").map(([code, name]) => [name?.[0], code?.[0]])).toEqual(
      Object.entries(runtime.RuntimeErrorCode).map(([name, code]) => [`RuntimeErrorCode.${name}`, code]),
    );
  });

  it("lists every message in its page, with what its payload must have", () => {
    const rows = rowsOf("../../../docs/runtime.md").map(
      ([type, , fields]) => [type?.[0] ?? "", fields] as const,
    );
    expect(rows.map(([type]) => type).sort()).toEqual(Object.keys(messages).sort());
    for (const [type, fields] of rows) expect([type, fields]).toEqual([type, requiredIn(messages[type])]);
  });
});
