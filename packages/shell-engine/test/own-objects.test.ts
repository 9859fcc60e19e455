import { createHttpExchange, createHttpServer } from "@harnesskit/transport-http/node";
import { createDeferred } from "@harnesskit/wire";
import { describe, expect, it } from "vitest";
import { createShellEngine, type ShellEngine } from "../src/index.ts";
import { messagesOf, request, say } from "./support.ts";

const token = "a-token-of-an-engine-that-is-long";

const answering = () => createShellEngine({ handlers: { intent: ({ intent }) => [say(`${intent}`)] } });

/** An engine that says something more, in the response that the other one made. */
const saying = (engine: ShellEngine, more: string): ShellEngine => ({
  ...engine,
  handle: async (message, context) => {
    const response = await engine.handle(message, context);
    response.response.action_directives?.push(say(more));
    return response;
  },
});

describe("a response", () => {
  it("that a wrapper of handle has changed is sent as it was changed, also when it is a replay", async () => {
    const server = createHttpServer({ routes: { "/openharness": saying(answering(), "more") }, token });
    await server.listen();
    const exchange = createHttpExchange({ url: `${server.url}/openharness`, credentials: { bearer: token } });
    try {
      for (const _attempt of [1, 2]) {
        const message = request({ user_intent: "hi", session_id: "s" }, { request_id: "r" });
        const sent = (await exchange.handle(message)) as Awaited<ReturnType<ShellEngine["handle"]>>;
        expect(messagesOf(sent)).toEqual(["hi", "more"]);
      }
    } finally {
      await exchange.close();
      await server.close();
    }
  });

  it("is another object for each who waited for the same work", async () => {
    const gate = createDeferred<undefined>();
    const engine = createShellEngine({
      handlers: { intent: async () => (await gate.promise) ?? [say("done")] },
    });
    const wrapped = saying(engine, "more");
    const message = request({ user_intent: "hi", session_id: "s" }, { request_id: "r" });
    const both = [wrapped.handle(message, {}), wrapped.handle(message, {})];
    gate.resolve(undefined);
    for (const response of await Promise.all(both)) expect(messagesOf(response)).toEqual(["done", "more"]);
  });
});

describe("a message", () => {
  it("may be changed and sent again while an attempt to handle it waits", async () => {
    const lines: unknown[] = [];
    const engine = createShellEngine({
      authenticate: async () => ({ principal: "me" }),
      handlers: {
        intent: async (call) => {
          await Promise.resolve();
          return [
            say(
              [call.intent, call.shell?.locale, call.attachments.length, call.conversation.sessionId].join(),
            ),
          ];
        },
      },
      log: (line) => lines.push([line.request_id, line.session_id, line.privacy_tier]),
    });
    const shell = { locale: "" };
    const attachments: object[] = [];
    const message = request({ shell, attachments }, { request_id: "r" });
    const context = message.request.context as Record<string, unknown>;
    const answers = [1, 2, 3].map((number) => {
      message.request_id = `r${number}`;
      context.user_intent = `intent ${number}`;
      context.session_id = `s${number}`;
      context.environment_state = number === 1 ? { privacy_tier: "secret" } : { privacy_tier: "public" };
      shell.locale = `l${number}`;
      attachments.push({ uri: `https://files.example/${number}` });
      return engine.handle(message, {});
    });
    expect(
      (await Promise.all(answers)).map((response) => [response.request_id, ...messagesOf(response)]),
    ).toEqual([1, 2, 3].map((number) => [`r${number}`, `intent ${number},l${number},${number},s${number}`]));
    expect(lines).toEqual([
      ["r1", "s1", "secret"],
      ["r2", "s2", "public"],
      ["r3", "s3", "public"],
    ]);
  });

  it("is left as it was by a handler that changes what it got", async () => {
    const engine = createShellEngine({
      handlers: {
        intent: ({ shell, attachments, environment }) => {
          Object.assign(shell ?? {}, { locale: "changed" });
          (attachments as object[]).push({});
          Object.assign(environment ?? {}, { os: "changed" });
          return [];
        },
      },
    });
    const message = request({ shell: { locale: "en" }, attachments: [], environment_state: { os: "linux" } });
    const before = structuredClone(message);
    expect((await engine.handle(message, {})).response.status).toBe("success");
    expect(message).toEqual(before);
  });
});
