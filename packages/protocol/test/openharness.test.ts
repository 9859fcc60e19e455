import { describe, expect, it } from "vitest";
import * as z from "zod";
import { CapabilitiesSchema } from "../src/openharness/capabilities.ts";
import { RenderMessagePayloadSchema } from "../src/openharness/core-actions.ts";
import {
  ActionDirectiveSchema,
  type ActionType,
  approvalSubject,
  createActionRegistry,
  fallbackTextOf,
  HARNESSKIT_EXTENSION,
  hasCapability,
  majorOf,
  misfitTextOf,
  OPENHARNESS_VERSION,
  relayShellRequest,
  relayShellResponse,
  requestExtensionOf,
  responseExtensionOf,
  ShellErrorCode,
  ShellRequestSchema,
  ShellResponseSchema,
  withMessageText,
} from "../src/openharness/index.ts";
import { requestDocuments, responseDocuments } from "./openharness-documents.ts";

const request = (fields: object = {}, context: object = {}) => ({
  protocol_version: "1.0.0",
  request: { context },
  ...fields,
});
const directive = (fields: object) => ({ action_type: "render_message", ...fields });
const ownType: ActionType = {
  type: "com.example.sop.start",
  payload: z.object({ sop: z.string() }),
  defaultRisk: "caution",
  capability: "com.example.sop",
};
const codeOf = (run: () => unknown): unknown => {
  try {
    run();
  } catch (error) {
    return [(error as Error).name, (error as { code?: unknown }).code];
  }
  return undefined;
};

describe("a request and a response", () => {
  it("relayed keep what is not known here, and lose keys __proto__ at any depth", () => {
    for (const [relay, documents] of [
      [relayShellRequest, requestDocuments],
      [relayShellResponse, responseDocuments],
    ] as const) {
      for (const document of documents) {
        const inner = JSON.stringify(document).replace(/[{]/g, '{"new":{"__proto__":{"x":1},"y":[2]},');
        const relayed = relay(JSON.parse(inner.replaceAll(",}", "}")));
        const text = JSON.stringify(relayed);
        expect(text).not.toContain("__proto__");
        expect(text).toContain('"new":{"y":[2]}');
        expect(JSON.parse(inner.replaceAll(",}", "}").replaceAll('"__proto__":{"x":1},', ""))).toEqual(
          relayed,
        );
      }
    }
    expect(({} as { x?: unknown }).x).toBeUndefined();
  });

  it("that are none are not relayed, and their fields are not echoed", () => {
    const secret = "hunter2-hunter2";
    for (const message of [null, 1, [], { protocol_version: secret }, request({ request: secret })]) {
      const failure = (relay: (message: unknown) => unknown): unknown => {
        try {
          return relay(message);
        } catch (error) {
          return error;
        }
      };
      for (const error of [failure(relayShellRequest), failure(relayShellResponse)]) {
        expect(error).toBeInstanceOf(z.ZodError);
        expect(String((error as Error).message)).not.toContain(secret);
      }
    }
  });

  it("hold null for a number that is too large to be written again", () => {
    const parsed = CapabilitiesSchema.parse(JSON.parse('{"a":[1,1e400,{"b":-1e400}],"c":1e308}'));
    expect(parsed).toEqual({ a: [1, null, { b: null }], c: 1e308 });
  });
});

it("null in an optional field of a request, a response or a directive is absent", () => {
  const directive = {
    action_type: "render_message",
    payload: { text: "hi", message: null },
    extensions: null,
  };
  expect(ActionDirectiveSchema.parse({ ...directive, priority: null })).toStrictEqual({
    action_type: "render_message",
    payload: directive.payload,
  });
  expect(RenderMessagePayloadSchema.parse(directive.payload)).toStrictEqual({ text: "hi" });
  expect(RenderMessagePayloadSchema.safeParse({ message: null }).success).toBe(false);
  const context = { attachments: null, task_hint: { sop_id: null, own: null } };
  expect(
    ShellRequestSchema.parse({
      protocol_version: "1.0.0",
      request_id: null,
      request: { auth: null, context },
    }),
  ).toStrictEqual({ protocol_version: "1.0.0", request: { context: { task_hint: { own: null } } } });
  const response = { status: "success", error: null, action_directives: null };
  expect(ShellResponseSchema.parse({ protocol_version: "1.0.0", response })).toStrictEqual({
    protocol_version: "1.0.0",
    response: { status: "success" },
  });
});

describe("a version", () => {
  it.each([
    ["1.0.0", "1"],
    ["1.99.0-draft", "1"],
    ["01.0.0", "1"],
    ["0.9.0", "0"],
    ["000.0.0", "0"],
    ["20.0.0", "20"],
    [`${"9".repeat(40)}.0.0`, "9".repeat(40)],
    ["1.0", undefined],
    ["", undefined],
  ])("%s has the major number %s", (version, major) => {
    expect(majorOf(version)).toBe(major);
  });

  it("of this package is 1.0.0", () => {
    expect(OPENHARNESS_VERSION).toBe("1.0.0");
  });
});

describe("a capability", () => {
  it.each([
    [{ a: true }, true],
    [{ a: "v2" }, true],
    [{ a: {} }, true],
    [{ a: 0 }, true],
    [{ a: false }, false],
    [{ a: null }, false],
    [{ b: true }, false],
    [undefined, false],
  ])("of %j is there: %s", (capabilities, expected) => {
    expect(hasCapability(capabilities, "a")).toBe(expected);
  });

  it.each(["constructor", "toString", "__proto__"])("%s is not inherited", (name) => {
    expect(hasCapability({}, name)).toBe(false);
  });
});

describe("the registry", () => {
  it("has the core types with risk and capability", () => {
    const registry = createActionRegistry();
    const facts = registry.types.map((type) => {
      const { defaultRisk, capability, needsPayload } = registry.get(type) ?? {};
      return [type, defaultRisk, capability, needsPayload];
    });
    expect(facts).toEqual([
      ["render_message", "safe", undefined, true],
      ["render_ui", "safe", "openharness.ui.rich_cards", true],
      ["simulate_action", "dangerous", undefined, false],
      ["request_approval", "safe", "openharness.ui.approval", true],
      ["noop", "safe", undefined, false],
    ]);
  });

  it.each([
    ["render_message", undefined, "payload_missing", "payload"],
    ["render_message", { message: 1 }, "payload_invalid", "payload.message"],
    ["render_message", {}, "payload_invalid", "payload.message"],
    ["render_message", { text: { html: "x" } }, "payload_invalid", "payload.text"],
    ["render_ui", { component: "" }, "payload_invalid", "payload.component"],
    [
      "request_approval",
      { message: "m", continuation: { run_id: 1 } },
      "payload_invalid",
      "payload.continuation.run_id",
    ],
    ["com.example.sop.start", { sop: ["s"] }, "payload_invalid", "payload.sop"],
    ["com.example.other", {}, "unknown_action_type", "action_type"],
    ["constructor", {}, "unknown_action_type", "action_type"],
  ])("%s with %j is %s at %s", (action_type, payload, code, path) => {
    const registry = createActionRegistry([ownType]);
    expect(registry.problemOf({ action_type, ...(payload && { payload }) })).toEqual({ code, path });
  });

  it("finds nothing wrong with the directives of the specification and with those of an own type", () => {
    const registry = createActionRegistry([ownType]);
    const [example] = responseDocuments;
    for (const one of example?.response.action_directives ?? []) {
      expect(registry.problemOf(ActionDirectiveSchema.parse(one))).toBeUndefined();
    }
    expect(registry.problemOf({ action_type: "noop" })).toBeUndefined();
    expect(registry.problemOf({ action_type: ownType.type, payload: { sop: "s" } })).toBeUndefined();
    expect([...registry.capabilities]).toContain("com.example.sop");
  });

  it.each(["mine", ".a.b", "a b.c", "__proto__"])(
    "accepts %j as an own type: a prefix is recommended",
    (type) => {
      const registry = createActionRegistry([{ ...ownType, type }]);
      expect(registry.get(type)?.defaultRisk).toBe(ownType.defaultRisk);
      expect(registry.problemOf({ action_type: type, payload: { sop: "s" } })).toBeUndefined();
      expect(registry.problemOf({ action_type: type, payload: { sop: 1 } })?.code).toBe("payload_invalid");
    },
  );

  it.each(["", 5, undefined])("refuses %j as an own type", (type) => {
    const make = () => createActionRegistry([{ ...ownType, type: type as string }]);
    expect(codeOf(make)).toEqual(["ActionRegistryError", "invalid_action_type"]);
  });

  it("refuses a type for the second time", () => {
    const make = () => createActionRegistry([ownType, ownType]);
    expect(codeOf(make)).toEqual(["ActionRegistryError", "duplicate_action_type"]);
  });

  it("takes an own type in the place of a core one, whose capability stays unless it names one", () => {
    const card = { ...ownType, type: "render_ui", capability: undefined as never };
    const { capability: _none, ...silent } = card;
    const registry = createActionRegistry([
      silent,
      { ...ownType, type: "noop", capability: "com.example.x" },
    ]);
    expect(registry.get("render_ui")).toMatchObject({
      defaultRisk: ownType.defaultRisk,
      capability: "openharness.ui.rich_cards",
    });
    expect(registry.problemOf({ action_type: "render_ui", payload: { sop: "s" } })).toBeUndefined();
    expect(registry.get("noop")?.capability).toBe("com.example.x");
    expect(registry.types).toEqual(createActionRegistry().types);
  });

  it("gives the portable text of a directive", () => {
    expect(fallbackTextOf(directive({ payload: { message: "m", fallback_message: "f" } }))).toBe("m");
    expect(fallbackTextOf(directive({ payload: { message: 1, fallback_message: "f" } }))).toBe("f");
    expect(fallbackTextOf(directive({ payload: { text: "t", fallback_message: "f" } }))).toBe("t");
    expect(fallbackTextOf(directive({ payload: { message: "" } }))).toBeUndefined();
    expect(fallbackTextOf(directive({}))).toBeUndefined();
  });

  it("gives the fallback_message of a directive whose payload does not fit, before other strings", () => {
    expect(misfitTextOf(directive({ payload: { message: "m", fallback_message: "f" } }))).toBe("f");
    expect(misfitTextOf(directive({ payload: { text: "t", fallback_message: 1 } }))).toBe("t");
    expect(misfitTextOf(directive({ payload: {} }))).toBeUndefined();
  });
});

describe("a render_message", () => {
  it("is the only type that is given both", () => {
    const other = directive({ action_type: "com.example.note", payload: { text: "hello" } });
    expect(withMessageText(other)).toBe(other);
  });
});

describe("our own extension", () => {
  const approval = { decision: "approved", digest: "sha256:0" };

  it("is read under its reverse-DNS key, and what is none is told or left", () => {
    expect(HARNESSKIT_EXTENSION).toBe("dev.harnesskit");
    expect(requestExtensionOf({ "dev.harnesskit": { approval, other: 1 } })).toEqual({ approval });
    expect(requestExtensionOf({ "dev.harnesskit": { approval: { decision: "maybe" } } })).toBe("invalid");
    expect(requestExtensionOf({ "com.example": {} })).toBeUndefined();
    expect(requestExtensionOf(undefined)).toBeUndefined();
    const continuation = { run_id: "r", continuation_token: "t" };
    expect(responseExtensionOf({ "dev.harnesskit": { session_id: "s", continuation } })).toEqual({
      session_id: "s",
      continuation,
    });
    for (const none of [undefined, null, 5, [], {}, { "dev.harnesskit": { session_id: 1 } }]) {
      expect(responseExtensionOf(none)).toBeUndefined();
    }
  });

  it("binds an approval to everything of the directive but the continuation", () => {
    const asked = { action_type: "request_approval", risk_tier: "dangerous" as const };
    const payload = { message: "May I?", subject: { a: 1 } };
    expect(approvalSubject({ ...asked, payload: { ...payload, continuation: { run_id: "r" } } })).toEqual({
      ...asked,
      payload,
    });
    expect(approvalSubject(asked)).toEqual(asked);
  });
});

describe("the literals that others rely on", () => {
  it("are these error codes", () => {
    expect(Object.values(ShellErrorCode)).toEqual([
      "invalid_request",
      "engine_timeout",
      "unknown_action_type",
      "protocol_version_unsupported",
      "unauthorized",
      "forbidden",
      "request_id_conflict",
      "invalid_continuation",
      "continuation_expired",
      "continuation_used",
      "approval_mismatch",
      "unknown_sop",
      "unknown_plugin",
      "not_supported",
      "capability_required",
      "engine_overloaded",
      "cancelled",
      "internal_error",
    ]);
  });
});
