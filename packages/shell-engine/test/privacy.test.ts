import type { JsonObject } from "@harnesskit/protocol/envelope";
import { createDeferred } from "@harnesskit/wire";
import { describe, expect, it } from "vitest";
import {
  createShellEngine,
  type ShellCall,
  ShellEngineError,
  type ShellEngineOptions,
} from "../src/index.ts";
import { codeOf, keptLog, messagesOf, request, say, send, TestClock } from "./support.ts";

const token = "tok_hunter2_hunter2";
const screen = "Account 4711-0815, balance 12.99";

/** An engine whose handler logs and throws everything that it knows, and its log. */
const leaking = (act: (call: ShellCall) => unknown = () => undefined) => {
  const { lines, log, text } = keptLog();
  const engine = createShellEngine({
    handlers: {
      intent: (call) => {
        call.log("state.read", {
          state: call.environment ?? null,
          words: `saw ${screen} with ${token}`,
          pin: 998877,
        });
        call.log(`saw ${screen}`, { fine: true });
        return act(call) as undefined;
      },
    },
    log,
  });
  return { engine, lines, text };
};
const state = (privacy_tier: string | undefined) => ({
  environment_state: { privacy_tier, os: "macOS", screen, deep: [{ secret_word: "xyzzy" }], pin: 998877 },
});

describe("the log", () => {
  it("has one line for each request, with what it is about and nothing of what it says", async () => {
    const { engine, lines, text } = leaking(() => [say("the reply")]);
    const shell = { shell_kind: "tv", locale: "de" };
    const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    const headers = { traceparent, "x-request-id": "proxy-1", "x-correlation-id": "other" };
    await send(
      engine,
      request(
        { user_intent: "my intent", conversation_id: "c1", shell },
        { request_id: "r1", correlation_id: "k1" },
      ),
      { principal: "me", headers },
    );
    const ids = {
      request_id: "r1",
      correlation_id: "k1",
      traceparent,
      http_request_id: "proxy-1",
      session_id: "s1",
      conversation_id: "c1",
      shell_kind: "tv",
    };
    expect(lines.map(({ event }) => event)).toEqual(["state.read", "handler", "request"]);
    expect(lines.at(-1)).toEqual({
      event: "request",
      level: "info",
      ...ids,
      outcome: "success",
      duration_ms: expect.any(Number),
      is_replay: false,
      action_types: ["render_message"],
    });
    expect(lines[0]).toMatchObject(ids);
    for (const content of ["my intent", "the reply"]) expect(text()).not.toContain(content);
  });

  it("says of a request that failed which code it was answered with, and of no words", async () => {
    const { engine, lines } = leaking(() => {
      throw new ShellEngineError("no_money", "There is none.");
    });
    await send(engine, request());
    await send(engine, { protocol_version: "7.0.0", request_id: "r7" });
    const [first, second] = lines.filter(({ event }) => event === "request");
    expect(first).toMatchObject({ level: "warn", outcome: "error", error_code: "no_money" });
    expect(second).toMatchObject({ request_id: "r7", error_code: "protocol_version_unsupported" });
    expect(JSON.stringify(lines)).not.toContain("There is none");
  });

  it("never has anything of a state that is secret, whoever wants to write it", async () => {
    const { engine, lines, text } = leaking(() => {
      throw new ShellEngineError("failed", `Could not read ${screen} of 998877`, { details: { screen } });
    });
    const context = { ...state("secret"), shell: { shell_kind: `tv ${screen}` }, conversation_id: screen };
    const response = await send(engine, request(context, { correlation_id: `xyzzy ${screen}` }));
    expect(lines.length).toBe(3);
    expect(lines.every(({ privacy_tier }) => privacy_tier === "secret")).toBe(true);
    expect(lines.every(({ details, environment_state }) => details === undefined && !environment_state)).toBe(
      true,
    );
    for (const value of [screen, "4711", "xyzzy", "macOS", "998877", "secret_word"]) {
      expect(text()).not.toContain(value);
      expect(JSON.stringify(response.response.error)).not.toContain(value);
    }
  });

  it.each(["restricted", undefined])("has no value of a state that is %s", async (tier) => {
    const { engine, lines, text } = leaking();
    await send(engine, request(state(tier)));
    expect(lines.some(({ environment_state }) => environment_state)).toBe(false);
    expect(lines[0]?.details).toMatchObject({ words: expect.stringContaining("saw [removed] with") });
    for (const value of [screen, "xyzzy", "macOS", "998877"]) expect(text()).not.toContain(value);
  });

  const wish = "Transfer 900 EUR to Ada Lovelace,\nIBAN DE02 1203 0000";
  it.each(["secret", "restricted", undefined])(
    "has nothing of the user's intent where the state is %s, whoever wants to write it",
    async (tier) => {
      const { lines, log, text } = keptLog();
      const engine = createShellEngine({
        handlers: {
          intent: ({ intent = "", log }) => {
            log("intent.read", {
              intent,
              nested: [`got: ${intent}!`],
              [intent]: 1,
              line: intent.split("\n")[1] ?? "",
            });
            log("dora");
            throw new ShellEngineError("failed", `Cannot do: ${intent}`, { details: { intent } });
          },
        },
        log,
      });
      const response = await send(engine, request({ ...state(tier), user_intent: ` ${wish} ` }));
      expect(lines.map(({ event }) => event)).toEqual(["intent.read", "dora", "request"]);
      expect(lines[0]?.details === undefined).toBe(tier === "secret");
      for (const part of ["Ada", "Lovelace", "IBAN", "DE02", "900"]) {
        expect(text()).not.toContain(part);
        expect(JSON.stringify(response.response.error)).not.toContain(part);
      }
      await send(engine, request({ ...state(tier), user_intent: "dora" }));
      expect(lines.at(-2)?.event).toBe("handler");
      expect(text().match(/dora/g)).toHaveLength(1);
    },
  );

  it("keeps what handlers log of an intent where the state is public or there is none", async () => {
    const { lines, log } = keptLog();
    const engine = createShellEngine({
      handlers: { intent: ({ intent = "", log }) => void log("intent.read", { intent }) as undefined },
      log,
    });
    for (const context of [state("public"), {}])
      await send(engine, request({ ...context, user_intent: wish }));
    expect([lines[0]?.details, lines[2]?.details]).toEqual([{ intent: wish }, { intent: wish }]);
  });

  it("has a state that is public", async () => {
    const { engine, lines } = leaking();
    await send(engine, request(state("public")));
    expect(lines.at(-1)?.environment_state).toEqual(state("public").environment_state);
  });

  it("that throws or rejects harms nothing", async () => {
    for (const log of [
      () => {
        throw new TypeError("disk");
      },
      () => Promise.reject(new TypeError("disk")),
    ]) {
      const engine = createShellEngine({ handlers: { intent: () => [say("a")] }, log });
      expect(messagesOf(await send(engine, request()))).toEqual(["a"]);
    }
  });
});

const endless: JsonObject = {};
endless.again = endless;

describe("what an error says", () => {
  const failing = (error: unknown, options: Partial<ShellEngineOptions> = {}) => {
    const errors: unknown[] = [];
    const engine = createShellEngine({
      handlers: {
        intent: () => {
          throw error;
        },
      },
      onError: (cause) => errors.push(cause),
      ...options,
    });
    return { engine, errors };
  };

  it.each([
    new TypeError(`cannot read /home/ada/.ssh with ${token}`),
    token,
    undefined,
    null,
    { code: "internal_error", message: token },
    new ShellEngineError(`Bad Code ${token}`, "x"),
    new ShellEngineError("not_json", token, { details: { a: 5n as never } }),
    new ShellEngineError("endless", token, { details: endless }),
  ])("of anything but a ShellEngineError is internal_error: %s", async (error) => {
    const { engine, errors } = failing(error);
    const response = await send(engine, request({}, {}, { auth: { token } }));
    expect(response.response.error).toEqual({
      code: "internal_error",
      message: "The engine could not handle the request.",
      retryable: false,
    });
    expect(JSON.stringify(response)).not.toContain("hunter2");
    expect(errors).toEqual([error]);
  });

  it("of a ShellEngineError is what it says, without secrets and without characters that hide", async () => {
    const message = `\u202eno ${token} on ${screen}\u0000`;
    const details = { [`at ${token}`]: [`x${token}x`], fine: 1 };
    const { engine } = failing(new ShellEngineError("no_way", message, { retryable: true, details }));
    const { response } = await send(engine, request(state("restricted"), {}, { auth: { token } }));
    expect(response.error).toEqual({
      code: "no_way",
      message: "⟨U+202E⟩no [removed] on [removed]⟨U+0000⟩",
      retryable: true,
      details: { "at [removed]": ["x[removed]x"], fine: 1 },
    });
  });

  // Each place from which something reaches a message, and each kind of value that must not.
  const auth = { token, nested: { list: ["cred_deep_4711"] }, pin: 998877 };
  const personal = { mail: "ada@example.org", deep: [{ name: "Lovelace" }], account: 47110815 };
  it.each(["secret", "restricted", undefined])(
    "has nothing of auth and of a state that is %s, in its message and its details, from a handler or the hook",
    async (privacy_tier) => {
      const all = [token, "cred_deep_4711", "998877", "ada@example.org", "Lovelace", "47110815"];
      const words = `failed for ${all.join(" and ")}.`;
      const thrown = new ShellEngineError("no_way", words, {
        details: { list: all, [`key ${all[0]}`]: { [`of ${all[3]}`]: 47110815 } },
      });
      const context = { environment_state: { privacy_tier, ...personal } };
      const message = request(context, {}, { auth });
      const hook = createShellEngine({
        handlers: {},
        authenticate: () => {
          throw thrown;
        },
      });
      const intent = async () => {
        throw thrown;
      };
      const late = createShellEngine({ handlers: { intent } });
      for (const engine of [failing(thrown).engine, late, hook]) {
        const { error } = (await send(engine, message)).response;
        expect(error).toMatchObject({
          code: "no_way",
          message: expect.stringMatching(/^failed for \[removed\] and/),
        });
        for (const value of all) expect(JSON.stringify(error)).not.toContain(value);
      }
    },
  );

  it("is the engine's own sentences and keys as they are, whatever a state and auth hold", async () => {
    const words = ["other", "used", "reason", "path", "schema", "request", "engine", "directives"];
    const state = { environment_state: { privacy_tier: "secret", words } };
    const engine = createShellEngine({ handlers: { intent: () => [say("a")] } });
    const ask = (context: object) =>
      send(engine, request({ ...state, ...context }, { request_id: "r1" }, { auth: { words } }));
    await ask({ user_intent: "one" });
    expect((await ask({ user_intent: "two" })).response.error).toMatchObject({
      code: "request_id_conflict",
      message: "This request_id was used for another request.",
    });
    const forged = { continuation: { continuation_token: "hk1.x" } };
    expect(JSON.stringify((await ask(forged)).response.error)).not.toContain("[removed]");
    const refusing = createShellEngine({ handlers: {}, authenticate: () => ({ refused: "unauthorized" }) });
    const auth = { words: ["Other", "credentials"] };
    expect((await send(refusing, request({}, {}, { auth }))).response.error?.message).toBe(
      "Other credentials are needed.",
    );
  });

  it("of a request that is wrong says where, and not what", async () => {
    const { engine } = failing(undefined);
    for (const message of [
      request({ session_id: { token } }, {}, { auth: { token } }),
      request({}, {}, { auth: token }),
      { protocol_version: token, request: {} },
      { protocol_version: "1.0.0", request: token },
      request({ continuation: { continuation_token: token } }),
      request({ attachments: [{ uri: `data:,${token}${"%20".repeat(1000)}` }] }),
    ]) {
      const response = await send(engine, message);
      expect(codeOf(response)).toMatch(/^invalid_/);
      expect(JSON.stringify(response)).not.toContain("hunter2");
    }
  });
});

describe("authentication", () => {
  const checking = (options: Partial<ShellEngineOptions> = {}) => {
    const { log, text } = keptLog();
    const seen: unknown[] = [];
    const engine = createShellEngine({
      handlers: { intent: ({ principal }) => [say(`hello ${JSON.stringify(principal)}`)] },
      authenticate: ({ auth }) => {
        seen.push(auth);
        if (auth?.credential_ref === "cred_ada") return { principal: { user: "ada" } };
        return { refused: auth?.credential_ref === "cred_bob" ? "forbidden" : "unauthorized" };
      },
      log,
      ...options,
    });
    return { engine, seen, text };
  };
  const by = (auth: object | undefined, fields: object = {}) => request({}, fields, auth && { auth });

  it("is by the references in auth, which go to the hook as they are and nowhere else", async () => {
    const { engine, seen, text } = checking();
    const auth = {
      tenant_id: "t_acme",
      credential_ref: "cred_ada",
      session_id: "login_9",
      token,
      nested: { a: [token] },
    };
    expect(messagesOf(await send(engine, by(auth)))).toEqual(['hello {"user":"ada"}']);
    expect(seen).toEqual([auth]);
    for (const secret of ["hunter2", "t_acme", "cred_ada", "login_9"]) expect(text()).not.toContain(secret);
  });

  it.each([
    [undefined, "unauthorized"],
    [{}, "unauthorized"],
    [{ credential_ref: "cred_eve", token }, "unauthorized"],
    [{ credential_ref: "cred_bob", token }, "forbidden"],
  ])("of %j is %s, and its token is not told", async (auth, code) => {
    const { engine, text } = checking();
    const response = await send(engine, by(auth, { request_id: "r1" }));
    expect([codeOf(response), response.request_id]).toEqual([code, "r1"]);
    expect(JSON.stringify(response) + text()).not.toContain("hunter2");
  });

  it("is not needed where the transport has said who it is", async () => {
    const engine = createShellEngine({ handlers: { intent: ({ principal }) => [say(String(principal))] } });
    expect(messagesOf(await send(engine, by(undefined), { principal: "ada" }))).toEqual(["ada"]);
    expect(messagesOf(await send(engine, by({ tenant_id: "t" }), { principal: "ada" }))).toEqual(["ada"]);
  });

  it("comes before what was remembered: who is refused learns of no other's response", async () => {
    const { engine } = checking();
    await send(engine, by({ credential_ref: "cred_ada" }, { request_id: "r1" }));
    expect(codeOf(await send(engine, by({ credential_ref: "cred_eve" }, { request_id: "r1" })))).toBe(
      "unauthorized",
    );
  });

  it.each([
    [
      "throws",
      () => {
        throw new TypeError(token);
      },
    ],
    ["gives nothing", () => undefined as never],
    ["rejects", () => Promise.reject(new TypeError(token))],
    ["gives a principal that has no JSON", () => ({ principal: 5n })],
  ])("that %s lets nobody in", async (_what, authenticate) => {
    let calls = 0;
    const handlers = { intent: () => void calls++ as undefined };
    const { engine } = checking({ authenticate, handlers });
    const response = await send(engine, by({ credential_ref: "cred_ada" }));
    expect(codeOf(response)).toBe("internal_error");
    expect(JSON.stringify(response)).not.toContain("hunter2");
    expect(calls).toBe(0);
  });

  it("with a refusal beside a principal is a refusal", async () => {
    const authenticate = () => ({ principal: "me", refused: "forbidden" }) as const;
    expect(codeOf(await send(checking({ authenticate }).engine, by({})))).toBe("forbidden");
  });

  it("that takes too long is engine_timeout, and its signal aborts", async () => {
    const clock = new TestClock();
    const began = createDeferred<AbortSignal>();
    const { engine } = checking({
      authenticate: ({ signal }) => {
        began.resolve(signal);
        return new Promise(() => {});
      },
      limits: { authenticateTimeoutMs: 500 },
      clock,
    });
    const waiting = send(engine, by({}));
    const signal = await began.promise;
    clock.move(500);
    expect((await waiting).response.error).toMatchObject({ code: "engine_timeout", retryable: true });
    expect(signal.aborted).toBe(true);
  });
});
