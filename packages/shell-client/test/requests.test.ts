import { inlineAttachment } from "@harnesskit/protocol/openharness";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { createShellClient, ShellClientError, toAttachmentRef } from "../src/index.ts";
import { shellIdentity } from "../src/shell-capabilities.ts";
import type { ShellAsk } from "../src/shell-request.ts";
import { rejection, respond, scripted } from "./support.ts";

const refused = async (ask: ShellAsk, options: Parameters<typeof scripted>[1] = {}) => {
  const { shell, sent } = scripted((request) => respond(request), options);
  const error = await rejection(shell.send(ask));
  expect(error).toBeInstanceOf(ShellClientError);
  expect(sent).toEqual([]);
  const { code, reason, path } = error as ShellClientError;
  return { code, reason, path };
};

describe("a request", () => {
  it("lets what is said of the shell stand, and fills in the rest", () => {
    expect(shellIdentity({ locale: "zh-CN", timezone: "Asia/Shanghai" })).toEqual({
      locale: "zh-CN",
      timezone: "Asia/Shanghai",
    });
    expect(Object.keys(shellIdentity()).sort()).toEqual(["locale", "timezone"]);
  });

  it("carries the ids in headers too, and leaves out what no header can carry", async () => {
    const { shell, sent, calls } = scripted((request) => respond(request));
    await shell.send({ correlationId: "corr-1" });
    expect(calls[0]?.headers).toEqual({ "x-request-id": sent[0]?.request_id, "x-correlation-id": "corr-1" });
    await shell.send({ correlationId: "größe\n" });
    expect(sent[1]?.correlation_id).toBe("größe\n");
    expect(Object.keys(calls[1]?.headers ?? {})).toEqual(["x-request-id"]);
  });

  it("says what the shell can do, and never that it streams", async () => {
    const pay = {
      type: "com.example.pay",
      payload: z.object({}),
      defaultRisk: "dangerous" as const,
      capability: "com.example.pay",
    };
    const scan = { ...pay, type: "com.example.scan", capability: "com.example.scan" };
    const of = async (options: Parameters<typeof scripted>[1]) => {
      const { shell, sent } = scripted((request) => respond(request), options);
      await shell.send({});
      return sent[0]?.capabilities;
    };
    expect(
      await of({
        executors: { render_ui: () => {}, "com.example.pay": () => {} },
        approve: () => "refused",
        actionTypes: [pay, scan],
        capabilities: { "com.example.voice": "v2" },
      }),
    ).toEqual({
      "openharness.actions.parallel": true,
      "openharness.ui.rich_cards": true,
      "openharness.ui.approval": true,
      "com.example.pay": true,
      "com.example.voice": "v2",
    });
    expect(await of({ capabilities: { "openharness.actions.parallel": false } })).toEqual({});
    const streaming = {
      engine: { handle: async () => undefined },
      capabilities: { "openharness.streaming": true },
    };
    expect(() => createShellClient(streaming)).toThrow(
      expect.objectContaining({ name: "InvalidArgumentError", code: "invalid_argument" }),
    );
  });
});

it("credentials are no part of the body, but for references", async () => {
  for (const auth of [{ token: "s3cret" }, { tenant_id: "t", api_key: "s3cret" }]) {
    const options = { engine: { handle: async () => undefined }, auth };
    expect(() => createShellClient(options)).toThrow(
      expect.objectContaining({ code: "invalid_argument", message: expect.not.stringContaining("s3cret") }),
    );
  }
  const { shell, sent } = scripted((request) => respond(request), { auth: { credential_ref: "cred_1" } });
  await shell.send({ intent: "a" });
  expect(sent[0]?.request.auth).toEqual({ credential_ref: "cred_1" });
});

describe("attachments", () => {
  const attachments = (...list: object[]): ShellAsk => ({ attachments: list as never });

  const blob = "AAECAwQF".repeat(300);
  it.each([
    ["a data: address", { uri: `data:text/plain;base64,${blob}` }],
    ["one in upper case, with a space before", { uri: ` DATA:,${"a b ".repeat(1000)}` }],
    ["a field of base64", { ref_id: "a", base64: blob }],
    ["one of another name", { ref_id: "a", note: blob }],
    ["bytes", { ref_id: "a", data: Array.from({ length: 3000 }, () => 1) }],
    ["a field within a field", { ref_id: "a", file: { preview: { url: `data:,${blob}` } } }],
  ])("that hold large data are refused and not sent: %s", async (_name, attachment) => {
    expect(inlineAttachment([attachment as never])).toBe(0);
    expect(await refused(attachments({ asset_id: "fine" }, attachment))).toEqual({
      code: "invalid_request",
      reason: "inline_attachment",
      path: "request.context.attachments.1",
    });
  });

  it("say where they are, and whatever else there is to say", async () => {
    for (const attachment of [{}, { mime_type: "image/png" }, { ref_id: "" }]) {
      expect(await refused(attachments(attachment))).toMatchObject({ reason: "no_reference" });
    }
    const { shell, sent } = scripted((request) => respond(request));
    const good = [
      { ref_id: "a" },
      { uri: "https://example.com/a.png" },
      { asset_id: "b", filename: "b.txt" },
      { ref_id: "c", description: "A long description. ".repeat(1000), data: "aGk=", vendor: { any: [1] } },
    ];
    await shell.send({ attachments: good });
    expect(sent[0]?.request.context?.attachments).toEqual(good);
  });
});

describe("a reference as a user writes it", () => {
  it.each([
    [" img/a.png ", { ref_id: "img/a.png", filename: "a.png" }],
    ["C:\\x\\a.png", { ref_id: "C:\\x\\a.png", filename: "a.png" }],
    ["folder/", { ref_id: "folder/" }],
    ["https://example.com/a.png?x=1", { uri: "https://example.com/a.png?x=1" }],
    ["app:card-7", { uri: "app:card-7" }],
  ])("%s is a reference", (text, reference) => {
    expect(toAttachmentRef(text)).toEqual(reference);
  });

  it("is not blank", () => {
    expect(() => toAttachmentRef(" ")).toThrow(
      expect.objectContaining({ code: "invalid_request", reason: "no_reference" }),
    );
  });
});

describe("what cannot be sent is refused, with its reason and place", () => {
  const deep = (levels: number): object => (levels === 0 ? {} : { a: deep(levels - 1) });
  const cycle: { a?: object } = {};
  cycle.a = cycle;

  it.each<[string, ShellAsk, string, string | undefined]>([
    ["10 MB", { extensions: { "com.example": "x".repeat(10_000_000) } }, "too_large", undefined],
    ["deep", { extensions: deep(10_000) as never }, "too_deep", undefined],
    ["a cycle", { taskHint: cycle as never }, "too_deep", undefined],
    ["a function", { taskHint: { a: (() => {}) as never } }, "not_json", undefined],
    ["a bigint", { taskHint: { a: 1n as never } }, "not_json", undefined],
    ["a Date", { taskHint: { a: new Date() as never } }, "not_json", undefined],
    ["an intent that is none", { intent: 5 as never }, "schema", "request.context.user_intent"],
    ["our own field", { extensions: { "dev.harnesskit": {} } }, "schema", "request.context.extensions"],
    ["an empty correlation", { correlationId: "" }, "schema", "correlation_id"],
  ])("%s", async (_name, ask, reason, path) => {
    expect(await refused(ask)).toEqual({ code: "invalid_request", reason, path });
  });

  it("keeps the session's continuation for the next request", async () => {
    const session = { sessionId: "s", continuation: { continuation_token: "c1" } };
    const { shell } = scripted((request) => respond(request), { session });
    await rejection(shell.send({ intent: 5 as never }));
    expect(shell.session).toEqual(session);
  });
});

describe("options that cannot work are refused", () => {
  const engine = { handle: async () => undefined };
  it.each<[string, object]>([
    ["no engine", { engine: undefined }],
    ["an engine that is none", { engine: {} }],
    ["a function as engine", { engine: async () => undefined }],
    ["an executor that is none", { engine, executors: { render_message: "x" } }],
    ["a rule that is none", { engine, approvalPolicy: { dangerous: "aks" } }],
    ["approve that is none", { engine, approve: "approved" }],
    ["a limit of 0", { engine, limits: { maxParallel: 0 } }],
    ["a depth beyond recursion", { engine, limits: { maxDepth: 100_000 } }],
    ["no time", { engine, timeoutMs: 0 }],
    ["no attempt", { engine, retry: { maxAttempts: 0 } }],
    [
      "a session with a continuation that is none",
      { engine, session: { sessionId: "s", continuation: "c" } },
    ],
    ["a retry with another name for its attempts", { engine, retry: { attempts: 2 } }],
    ["a session without an id", { engine, session: { sessionId: "" } }],
  ])("%s", (_name, options) => {
    expect(() => createShellClient(options as never)).toThrow(
      expect.objectContaining({ name: "InvalidArgumentError", code: "invalid_argument" }),
    );
  });

  it("and a type of action that cannot be registered", () => {
    const own = { type: "com.example.own", payload: z.object({}), defaultRisk: "safe" as const };
    expect(() => createShellClient({ engine, actionTypes: [own, own] })).toThrow(
      expect.objectContaining({ name: "ActionRegistryError", code: "duplicate_action_type" }),
    );
  });
});
