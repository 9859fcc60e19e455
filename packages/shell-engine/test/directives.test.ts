import type { ActionDirective } from "@harnesskit/protocol/openharness";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { createShellEngine, type ShellEngineOptions } from "../src/index.ts";
import { codeOf, messagesOf, request, say, send } from "./support.ts";

const own = {
  type: "com.example.pay",
  payload: z.object({ cents: z.int() }),
  defaultRisk: "dangerous",
} as const;

const engineOf = (returned: unknown, options: Partial<ShellEngineOptions> = {}) => {
  const errors: unknown[] = [];
  const engine = createShellEngine({
    handlers: { intent: () => returned as never },
    actionTypes: [own],
    onError: (error) => errors.push(error),
    ...options,
  });
  return { engine, errors };
};

const chart = {
  action_type: "render_ui",
  payload: { component: "chart", data: [1], fallback_message: "It is 1." },
} satisfies ActionDirective;

const asText = (text: string) => ({
  action_type: "render_message",
  risk_tier: "safe",
  payload: { message: text, text },
});

describe("directives", () => {
  it.each([undefined, [], {}, { directives: [] }])("may be none: %j", async (returned) => {
    const { response } = await send(engineOf(returned).engine, request());
    expect(response).toMatchObject({ status: "success", action_directives: [] });
  });

  const denied = (capability: string) => expect.objectContaining({ capability, code: "not_declared" });

  it.each([
    ["openharness.ui.rich_cards", chart, "It is 1."],
    [
      "openharness.ui.rich_cards",
      { action_type: "render_ui", payload: { component: "chart", text: "One." } },
      "One.",
    ],
    ["openharness.ui.approval", { action_type: "request_approval", payload: { text: "May I?" } }, "May I?"],
    [
      "openharness.ui.rich_cards",
      { action_type: "render_ui", payload: { component: "chart" } },
      "The engine sent something that this shell cannot show (render_ui).",
    ],
  ])(
    "whose type needs %s become text where the shell lacks it; the others are sent",
    async (name, one, text) => {
      const { engine, errors } = engineOf([say("before"), one, { action_type: "noop" }]);
      const message = request({}, { capabilities: {}, request_id: "r1" });
      const first = await send(engine, message);
      expect(first.response.action_directives).toEqual([
        asText("before"),
        asText(text),
        { action_type: "noop", risk_tier: "safe" },
      ]);
      expect(first.capability_denials).toEqual([denied(name)]);
      // The same request once more: the response that is remembered denies the same.
      expect(await send(engine, message)).toEqual(first);
      const able = await send(engine, request());
      expect(able.response.action_directives?.[1]).toMatchObject({ action_type: one.action_type });
      expect(able.capability_denials).toEqual([]);
      expect(errors).toEqual([]);
    },
  );

  it("of a feature that the engine does not offer are not sent either", async () => {
    const { engine } = engineOf([chart], { capabilities: { "openharness.ui.rich_cards": false } });
    expect(messagesOf(await send(engine, request()))).toEqual(["It is 1."]);
  });

  it("that are not valid cost themselves: their text is sent in their place, and the operator is told", async () => {
    const { engine, errors } = engineOf([
      say("before"),
      { ...say("At once."), priority: "now" },
      { action_type: "render_ui", payload: { chart: [1], fallback_message: "It is 1." } },
      { action_type: "com.example.pay", payload: { cents: 5n } },
      { action_type: "noop" },
    ]);
    const { response } = await engine.handle(request(), {});
    expect(response.action_directives).toEqual([
      asText("before"),
      asText("At once."),
      asText("It is 1."),
      { action_type: "noop", risk_tier: "safe" },
    ]);
    const codes = ["invalid_directive", "payload_invalid", "invalid_directive"];
    expect(errors).toEqual(codes.map((code) => expect.objectContaining({ name: "HandlerFault", code })));
  });

  it("of a core type have the payload that the application gives it", async () => {
    const card = {
      type: "render_ui",
      payload: z.object({ card: z.string() }),
      defaultRisk: "caution",
    } as const;
    const { engine } = engineOf([{ action_type: "render_ui", payload: { card: "<x/>" } }], {
      actionTypes: [card],
    });
    expect((await send(engine, request())).response.action_directives).toEqual([
      { action_type: "render_ui", payload: { card: "<x/>" }, risk_tier: "caution" },
    ]);
    const without = await send(engine, request({}, { capabilities: {} }));
    expect(without.capability_denials).toEqual([denied("openharness.ui.rich_cards")]);
  });

  it.each([
    ["payload_missing", [{ action_type: "render_message" }]],
    ["payload_invalid", [{ action_type: "render_message", payload: { html: "x" } }]],
    ["invalid_reply", { extensions: ["x"] }],
    ["invalid_reply", { extensions: { "dev.harnesskit": {} } }],
    ["invalid_reply", { continuation: { run_id: 5 } }],
    ["invalid_reply", { continuation: { run_id: "r" }, continueWith: {} }],
    ["payload_invalid", [{ action_type: "com.example.pay", payload: { cents: "5" } }]],
    ["invalid_directive", [{ payload: {} }]],
    ["invalid_directive", [null]],
    ["invalid_directive", ["render_message"]],
    ["invalid_directive", [{ action_type: "noop", priority: "now" }]],
    ["invalid_directive", [{ ...say("a"), payload: { message: "a", run: () => 1 } }]],
    ["invalid_reply", 5],
    ["invalid_reply", { directives: "none" }],
    ["unknown_step", { continueWith: { step: "next" } }],
    ["too_many_directives", Array.from({ length: 257 }, () => say("a"))],
    ["response_too_large", [say("x".repeat(1_048_577))]],
    [
      "several_approvals",
      {
        directives: [1, 2].map(() => ({ action_type: "request_approval", payload: { message: "m" } })),
        continueWith: {},
      },
    ],
  ])("that are %s are internal_error, and told to the operator", async (code, returned) => {
    const { engine, errors } = engineOf(returned);
    const { response } = await engine.handle(request(), {});
    expect(response.error).toEqual({
      code: "internal_error",
      message: "The engine could not handle the request.",
      retryable: false,
    });
    expect(errors).toEqual([expect.objectContaining({ name: "HandlerFault", code })]);
  });
});

describe("who answers", () => {
  it("is nobody where there is no handler", async () => {
    const empty = createShellEngine({ handlers: {} });
    expect(codeOf(await send(empty, request()))).toBe("not_supported");
  });

  it("is the plugin where an engine without SOPs gets a hint for both", async () => {
    const plugins = createShellEngine({ handlers: { plugins: { weather: () => [say("sun")] } } });
    const both = { sop_id: "sop_onboard", plugin_id: "weather" };
    expect(messagesOf(await send(plugins, request({ task_hint: both })))).toEqual(["sun"]);
    expect(codeOf(await send(plugins, request({ task_hint: { plugin_id: "news" } })))).toBe("unknown_plugin");
  });
});

describe("an attachment", () => {
  const blob = "iVBORw0KGgoAAAANSUhEUg".repeat(100);
  it.each([
    ["a data address", { uri: `data:image/png;base64,AA==${blob}` }],
    ["a data address in another field", { ref_id: "a", thumb: `data:image/png;base64,AA==${blob}` }],
    ["base64", { ref_id: "a", base64: `AA==${blob}` }],
    ["bytes", { ref_id: "a", bytes: Array.from({ length: 3000 }, () => 255) }],
    ["data further down", { ref_id: "a", source: { kind: { base64_data: blob } } }],
    ["data in a key", { ref_id: "a", [blob.repeat(10)]: 1 }],
  ])("with large data is refused: %s", async (_what, attachment) => {
    let calls = 0;
    const engine = createShellEngine({ handlers: { intent: () => void calls++ as undefined } });
    const response = await send(engine, request({ attachments: [{ ref_id: "fine" }, attachment] }));
    expect(response.response.error).toMatchObject({
      code: "invalid_request",
      details: { reason: "inline_attachment", path: "request.context.attachments.1" },
    });
    expect(JSON.stringify(response)).not.toContain("AA==");
    expect(calls).toBe(0);
  });

  it("list with one more than may be is refused", async () => {
    const attachments = Array.from({ length: 65 }, () => ({ ref_id: "a" }));
    expect(codeOf(await send(engineOf([]).engine, request({ attachments })))).toBe("invalid_request");
  });
});
