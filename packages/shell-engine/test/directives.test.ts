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
  it("leave in their order, with the risk of their type where none is said, and without what is not theirs", async () => {
    const given = [
      { ...say("one"), own_field: 1 },
      { action_type: "com.example.pay", payload: { cents: 5 } },
      { action_type: "com.example.pay", payload: { cents: 6 }, risk_tier: "caution" },
      { action_type: "noop", priority: "low", deadline_ms: 5, extensions: { "com.example": { a: 1 } } },
    ];
    const { response } = await send(engineOf(given).engine, request());
    expect(response.action_directives).toEqual([
      asText("one"),
      { action_type: "com.example.pay", payload: { cents: 5 }, risk_tier: "dangerous" },
      { action_type: "com.example.pay", payload: { cents: 6 }, risk_tier: "caution" },
      { ...given[3], risk_tier: "safe" },
    ]);
    expect(given[1]).toEqual({ action_type: "com.example.pay", payload: { cents: 5 } });
  });

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

  it("of a denied feature are denied once, with the engine's own reason", async () => {
    const denied = { code: "disabled_by_policy", message: "Not today." };
    const capabilities = { "openharness.ui.rich_cards": { denied } };
    const response = await send(engineOf([chart, chart], { capabilities }).engine, request());
    expect(response.capability_denials).toEqual([{ capability: "openharness.ui.rich_cards", ...denied }]);
    expect(messagesOf(response)).toEqual(["It is 1.", "It is 1."]);
  });

  it("of types that are not registered are sent as they are, with caution where no risk is said", async () => {
    const { engine, errors } = engineOf([
      { action_type: "open_door", payload: { door: 5 } },
      { action_type: "constructor", risk_tier: "safe" },
    ]);
    expect((await send(engine, request())).response.action_directives).toEqual([
      { action_type: "open_door", payload: { door: 5 }, risk_tier: "caution" },
      { action_type: "constructor", risk_tier: "safe" },
    ]);
    expect(errors).toEqual([]);
  });

  it.each([{ message: "hi" }, { text: "hi" }])(
    "that are messages leave with both names: %j",
    async (payload) => {
      const { engine } = engineOf([
        { action_type: "render_message", payload: { ...payload, format: "rtf" } },
      ]);
      expect((await send(engine, request())).response.action_directives).toEqual([
        {
          action_type: "render_message",
          risk_tier: "safe",
          payload: { message: "hi", text: "hi", format: "rtf" },
        },
      ]);
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
    ["invalid_reply", { continueWith: { expiresInMs: 0 } }],
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
  const asked: unknown[] = [];
  const answering = (name: string) => () => [say(name)];
  const engine = createShellEngine({
    handlers: {
      intent: answering("intent"),
      plugins: { weather: answering("weather") },
      sops: { onboard: { steps: { ask: answering("ask"), end: answering("end") }, first: "ask" } },
      businessKey: (key) => {
        asked.push(key);
        return key.startsWith("deal_") ? answering(`business ${key}`) : undefined;
      },
    },
  });

  it.each([
    [undefined, "intent"],
    [{}, "intent"],
    [{ own: 1 }, "intent"],
    [{ sop_id: "onboard" }, "ask"],
    [{ plugin_id: "weather" }, "weather"],
    [{ business_key: "deal_42" }, "business deal_42"],
    [{ business_key: "other" }, "intent"],
    [{ sop_id: "onboard", plugin_id: "weather", business_key: "deal_42" }, "ask"],
    [{ plugin_id: "weather", business_key: "deal_42" }, "weather"],
    [{ sop_id: "offboard" }, "unknown_sop"],
    [{ sop_id: "constructor" }, "unknown_sop"],
    [{ plugin_id: "news" }, "unknown_plugin"],
    [{ plugin_id: "__proto__" }, "unknown_plugin"],
  ])("a request with the task %j is %s", async (task_hint, expected) => {
    const response = await send(engine, request({ task_hint }));
    expect(messagesOf(response)[0] ?? codeOf(response)).toBe(expected);
  });

  it("is nobody where there is no handler", async () => {
    const empty = createShellEngine({ handlers: {} });
    expect(codeOf(await send(empty, request()))).toBe("not_supported");
  });

  it.each([
    [{ sop_id: "sop_onboard" }],
    [{ plugin_id: "weather" }],
    [{ sop_id: "sop_onboard", plugin_id: "weather", business_key: "deal_42" }],
    [{ sop_id: "constructor" }],
  ])("is `intent` for the hint %j in an engine without such routes", async (task_hint) => {
    const plain = createShellEngine({ handlers: { intent: ({ task }) => [say(JSON.stringify(task))] } });
    expect(messagesOf(await send(plain, request({ task_hint })))).toEqual([JSON.stringify(task_hint)]);
  });

  it("is the plugin where an engine without SOPs gets a hint for both", async () => {
    const plugins = createShellEngine({ handlers: { plugins: { weather: () => [say("sun")] } } });
    const both = { sop_id: "sop_onboard", plugin_id: "weather" };
    expect(messagesOf(await send(plugins, request({ task_hint: both })))).toEqual(["sun"]);
    expect(codeOf(await send(plugins, request({ task_hint: { plugin_id: "news" } })))).toBe("unknown_plugin");
  });

  it("learns the shell, the task, the attachments and the extensions, and nothing of auth", async () => {
    const shell = { shell_kind: "tv", shell_version: "2", locale: "de-DE", timezone: "Europe/Berlin" };
    const context = {
      shell,
      task_hint: { business_key: "x", deal: { cents: [1] } },
      attachments: [{ ref_id: "a", pages: 3 }, { uri: "https://x/y.png" }, { asset_id: "b", size_bytes: 5 }],
      extensions: { "com.example": { a: 1 } },
      environment_state: { privacy_tier: "public", battery: 0.5 },
    };
    let seen: object = {};
    const curious = createShellEngine({
      handlers: {
        intent: (call) => {
          seen = call;
        },
      },
    });
    const auth = { credential_ref: "cred_4711", token: "hunter2-hunter2" };
    await send(curious, request(context, {}, { auth, extensions: { "com.other": 2 } }));
    expect(seen).toMatchObject({
      shell,
      task: context.task_hint,
      attachments: context.attachments,
      extensions: context.extensions,
      environment: context.environment_state,
      requestExtensions: { "com.other": 2 },
      principal: "me",
    });
    const { conversation: _key, ...rest } = seen as { conversation: unknown };
    expect(JSON.stringify(rest)).not.toContain("hunter2");
    expect(JSON.stringify(rest)).not.toContain("cred_4711");
  });
});

describe("an attachment", () => {
  const blob = "iVBORw0KGgoAAAANSUhEUg".repeat(100);
  it.each([
    ["a data address", { uri: `data:image/png;base64,AA==${blob}` }],
    ["a data address that is no base64", { uri: `DATA:text/plain,AA==${"%20".repeat(1000)}` }],
    ["a data address in another field", { ref_id: "a", thumb: `data:image/png;base64,AA==${blob}` }],
    ["a data address with a tab in it", { uri: `da\tta:image/svg+xml,AA==${"<g/>".repeat(1000)}` }],
    ["a data address behind what is ignored", { uri: `\u0001\u200bdata:,AA==${"a ".repeat(1500)}` }],
    ["base64", { ref_id: "a", base64: `AA==${blob}` }],
    ["base64 in lines", { ref_id: "a", data: `AA==${blob}`.replace(/.{76}/g, "$&\r\n") }],
    ["hex digits", { ref_id: "a", content: "89504e47".repeat(300) }],
    [
      "bytes as text",
      {
        ref_id: "a",
        blob: String.fromCharCode(...Array(4096).keys())
          .slice(0, 256)
          .repeat(12),
      },
    ],
    ["bytes", { ref_id: "a", bytes: Array.from({ length: 3000 }, () => 255) }],
    ["bytes by their place", { ref_id: "a", bytes: { ...Array.from({ length: 3000 }, () => 255) } }],
    ["rows of bytes", { ref_id: "a", bytes: Array.from({ length: 60 }, () => Array(60).fill(1)) }],
    ["data further down", { ref_id: "a", source: { kind: { base64_data: blob } } }],
    ["data in a list", { ref_id: "a", parts: [{ body: blob }] }],
    ["a name", { filename: blob }],
    ["many short texts", { ref_id: "a", chunks: Array.from({ length: 50 }, () => blob.slice(0, 60)) }],
    ["data in a key", { ref_id: "a", [blob.repeat(10)]: 1 }],
    ["an address that is longer than addresses are", { uri: `https://x/${"y".repeat(9000)}` }],
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

  it("that is a reference is taken, with fields that nobody knows, short data and long descriptions", async () => {
    const attachments = [
      {},
      { uri: `https://x/${"y".repeat(3000)}` },
      { ref_id: "a", card: { title: "t", rows: [1] } },
      { ref_id: "a", filename: "Data: the film.mp4", title: "data: one, two", data: { order: 5 }, bytes: 12 },
      { ref_id: "a", data: "AA==", base64: "aGVsbG8=", body: "x", thumb: "data:image/png;base64,AA==" },
      { ref_id: "a", description: "What the picture shows, at length. ".repeat(3000) },
      { ref_id: "a", description: "图片所显示的内容。".repeat(3000), note: "Größe: über 3 m\n".repeat(1000) },
      { ref_id: "a", sha256: "9f".repeat(32), signature: "aB3".repeat(300), unknown: { deep: [{ x: 1 }] } },
      { ref_id: "a", thumbnail_url: `https://x/?token=${"y".repeat(3000)}` },
    ];
    expect(codeOf(await send(engineOf([]).engine, request({ attachments })))).toBe("success");
  });
});
