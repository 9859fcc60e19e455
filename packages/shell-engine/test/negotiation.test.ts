import type { JsonObject } from "@harnesskit/protocol/envelope";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { createShellEngine, type ShellEngineOptions } from "../src/index.ts";
import { codeOf, request, say, send } from "./support.ts";

const echo = (options: Partial<ShellEngineOptions> = {}) =>
  createShellEngine({ handlers: { intent: ({ intent }) => [say(intent ?? "")] }, ...options });

it("the version of sixty digits is answered with an error, whatever else there is", async () => {
  const named = { protocol_version: `${"9".repeat(60)}.0.0`, request_id: "r1", correlation_id: "c1" };
  for (const message of [request({}, named), { ...named, request: "in that version a text" }, named]) {
    const response = await send(echo(), message);
    expect(response).toMatchObject({ protocol_version: "1.0.0", request_id: "r1", correlation_id: "c1" });
    expect(codeOf(response)).toBe("protocol_version_unsupported");
    expect(response.response.error?.retryable).toBe(false);
    expect(response.supported_protocol_versions).toEqual(["1.0.0"]);
  }
});

describe("a message that is no request", () => {
  it("that nests too deeply is refused", async () => {
    let deep: unknown = 1;
    for (let depth = 0; depth < 200_000; depth++) deep = { a: deep };
    const response = await echo().handle(request({ extensions: { deep } }, { request_id: "r" }), {});
    expect(codeOf(response)).toBe("invalid_request");
    expect(response.response.error?.details?.reason).toBe("schema");
  });

  it("may nest as deep as any message: the handler reads all of it, and a directive holds any value", async () => {
    const deep = (levels: number): JsonObject => (levels === 0 ? {} : { a: deep(levels - 1) });
    const show = { action_type: "render_message", payload: { message: "x", subject: deep(63) } };
    const read: unknown[] = [];
    const engine = echo({
      handlers: {
        intent: ({ environment, extensions, shellCapabilities }) => {
          read.push(environment, extensions, shellCapabilities);
          return [show];
        },
      },
      authenticate: () => ({ principal: "me" }),
    });
    const parts = { extensions: { deep: deep(74) }, environment_state: { deep: deep(74) } };
    const message = request(parts, { capabilities: { deep: deep(76) } }, { auth: { deep: deep(75) } });
    const response = await send(engine, message);
    expect(response.response.error).toBeUndefined();
    expect(response.response.action_directives?.[0]?.payload).toMatchObject(show.payload);
    expect(read).toEqual([parts.environment_state, parts.extensions, message.capabilities]);
  });

  it.each([
    [request({}, { request_id: "r".repeat(513) }), "request_id"],
    [request({ session_id: "s".repeat(513) }), "session_id"],
    [request({ conversation_id: "c".repeat(513) }), "conversation_id"],
    [request({ task_hint: { business_key: "b".repeat(513) } }), "business_key"],
  ])("has an id that is too long", async (message, path) => {
    const response = await send(echo(), message);
    expect(response.response.error?.details).toEqual({ reason: "id_too_long", path });
    expect(response.request_id).toBeUndefined();
  });
});

describe("capabilities", () => {
  const message = "This engine does not offer it.";
  const denied = (capability: string) => ({ capability, code: "not_supported", message });

  it("that the shell says it lacks are not denied", async () => {
    const capabilities = { "openharness.streaming": false, "openharness.attachments.upload": null };
    expect((await send(echo(), request({}, { capabilities }))).capability_denials).toEqual([]);
    expect((await send(echo(), request({}, { capabilities: undefined }))).capability_denials).toEqual([]);
  });

  it("are offered and denied as the options say, those of registered types among them", async () => {
    const own = { type: "com.example.go", payload: z.object({}), defaultRisk: "caution" } as const;
    const engine = echo({
      actionTypes: [{ ...own, capability: "com.example.wheels" }],
      capabilities: {
        "openharness.attachments.upload": { max_bytes: 5 },
        "openharness.ui.rich_cards": false,
        "com.example.wings": false,
      },
    });
    const capabilities = {
      "openharness.attachments.upload": true,
      "openharness.ui.rich_cards": true,
      "com.example.wings": true,
      "com.example.wheels": true,
    };
    const response = await send(engine, request({}, { capabilities }));
    expect(response.capability_denials).toEqual([
      denied("openharness.ui.rich_cards"),
      denied("com.example.wings"),
    ]);
    expect(response.supported_capabilities).toEqual({
      "openharness.actions.parallel": true,
      "openharness.ui.approval": true,
      "com.example.wheels": true,
      "openharness.attachments.upload": { max_bytes: 5 },
    });
  });

  it("is JSON", () => {
    for (const value of [1n, Number.NaN, new Date(), [undefined]]) {
      expect(() =>
        createShellEngine({ capabilities: { "com.example.more": value as never }, handlers: {} }),
      ).toThrow(expect.objectContaining({ name: "InvalidArgumentError", code: "invalid_argument" }));
    }
  });
});

describe("options under which nothing could work", () => {
  it.each([
    { limits: { maxInFlight: 0 } },
    { limits: { handlerTimeoutMs: 2 ** 31 } },
    { limits: { maxIdLength: 1.5 } },
    { continuationKey: new Uint8Array(31) },
    { handlers: { sops: { empty: { steps: {} } } } },
  ])("%j are refused", (options) => {
    expect(() => echo(options)).toThrow(
      expect.objectContaining({ name: "InvalidArgumentError", code: "invalid_argument" }),
    );
  });
});
