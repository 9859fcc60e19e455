import { FrameTooLargeError, HarnessError, TransportError } from "@harnesskit/wire";
import { createMemoryPair } from "@harnesskit/wire/testing";
import { describe, expect, it } from "vitest";
import { nextTurn, until } from "../../../test-kit/test-kit.ts";
import { createShellClient, type ShellClientOptions } from "../src/index.ts";
import type { ShellDiagnostic } from "../src/shell-outcome.ts";
import {
  diagnosed,
  fail,
  failureOf,
  manualClock,
  never,
  outcomesOf,
  rejection,
  respond,
  type Sent,
  say,
  scripted,
} from "./support.ts";

const deep = (levels: number): object => (levels === 0 ? {} : { a: deep(levels - 1) });

it("a response that nests as deep as any message is carried out", async () => {
  const { shell } = scripted((request) => ({ ...(respond(request, [say("x")]) as object), extra: deep(78) }));
  expect((await shell.send({ intent: "a" })).response?.response.status).toBe("success");
});

describe("a response that is none is carried out in no part", () => {
  const good = (request: Sent) => respond(request, [say("x")]) as Record<string, unknown>;
  const pollution = '{"__proto__":{"polluted":1},"protocol_version":"1.0.0","response":{"status":"success"}}';

  it.each<[string, (request: Sent) => unknown, string, string | undefined]>([
    ["nothing", () => undefined, "invalid_response", "no_response"],
    ["null", () => null, "invalid_response", "schema"],
    ["a text", () => "<html>", "invalid_response", "schema"],
    ["a list", (request) => [good(request)], "invalid_response", "schema"],
    [
      "no version",
      (request) => ({ ...good(request), protocol_version: undefined }),
      "invalid_response",
      "schema",
    ],
    [
      "a version that is none",
      (request) => ({ ...good(request), protocol_version: "1" }),
      "invalid_response",
      "schema",
    ],
    ["no response", (request) => ({ ...good(request), response: undefined }), "invalid_response", "schema"],
    [
      "a status that is none",
      (request) => respond(request, [say("x")], {}, { status: "ok" }),
      "invalid_response",
      "schema",
    ],
    [
      "directives that are no list",
      (request) => respond(request, [], {}, { action_directives: say("x") }),
      "invalid_response",
      "schema",
    ],
    ["a request", (request) => request, "invalid_response", "schema"],
    [
      "another id",
      (request) => ({ ...good(request), request_id: "req_other" }),
      "invalid_response",
      "other_request_id",
    ],
    ["10 MB", (request) => respond(request, [say("x".repeat(10_000_000))]), "invalid_response", "too_large"],
    ["deep", (request) => ({ ...good(request), extra: deep(100) }), "invalid_response", "too_deep"],
    [
      "too many",
      (request) =>
        respond(
          request,
          Array.from({ length: 257 }, () => say("x")),
        ),
      "invalid_response",
      "too_many_directives",
    ],
    [
      "a function in it",
      (request) => ({ ...good(request), extra: () => {} }),
      "invalid_response",
      "not_json",
    ],
    [
      "a proxy that throws",
      () => new Proxy({}, { ownKeys: () => JSON.parse("{") }),
      "invalid_response",
      "not_json",
    ],
    [
      "version 2",
      (request) => ({ ...good(request), protocol_version: "2.0.0" }),
      "protocol_version_unsupported",
      undefined,
    ],
  ])("%s", async (_name, answer, code, reason) => {
    const { shell, shown, sent } = scripted(answer);
    const outcome = await shell.send({ intent: "a" });
    const failure = failureOf(outcome);
    expect([failure.code, failure.reason, failure.retryable]).toEqual([code, reason, false]);
    expect([shown, outcome.results, outcome.response, sent.length]).toEqual([[], [], undefined, 1]);
  });

  it("has no power over prototypes, and may leave the id out, or be of a later minor version", async () => {
    const answers = [
      JSON.parse(pollution),
      { protocol_version: "1.9.0-beta", response: { status: "success" } },
    ];
    for (const answer of answers) {
      const { shell } = scripted(() => answer);
      expect((await shell.send({})).status).toBe("success");
    }
    expect({}).not.toHaveProperty("polluted");
  });
});

describe("a request is tried again", () => {
  it("not where it succeeded, whatever error is beside that", async () => {
    const error = { code: "partial", retryable: true };
    const { shell, sent } = scripted((request) => respond(request, [], {}, { status: "success", error }));
    expect([(await shell.send({})).status, sent.length]).toEqual(["success", 1]);
  });

  it("with back-off and its id, when its error is retryable or the transport failed", async () => {
    const clock = manualClock();
    const answers = [
      (request: Sent) => fail(request, { code: "engine_overloaded", retryable: true }),
      () => Promise.reject(new TransportError("reset")),
      () => Promise.reject(new TypeError("of no transport of ours")),
      never,
      (request: Sent) => respond(request, [say("at last")]),
    ];
    const { shell, sent, shown, diagnostics } = scripted(
      (request, _call, attempt) => answers[attempt - 1]?.(request),
      {
        clock,
        timeoutMs: 1000,
        retry: { maxAttempts: 5, initialDelayMs: 100, maxDelayMs: 300, random: () => 1 },
      },
    );
    const sending = shell.send({ intent: "a" });
    for (const [attempt, delayMs] of [100, 200, 300].entries()) {
      await until(() => diagnostics.length === attempt + 1);
      clock.advance(delayMs - 1);
      await nextTurn();
      expect(sent.length).toBe(attempt + 1);
      clock.advance(1);
    }
    await until(() => sent.length === 4);
    clock.advance(1000);
    await until(() => diagnostics.length === 4);
    clock.advance(300);
    expect((await sending).status).toBe("success");
    expect([new Set(sent.map(({ request_id }) => request_id)).size, shown]).toEqual([1, ["at last"]]);
    expect(diagnostics.map(({ details }) => [details?.delay_ms, details?.code])).toEqual([
      [100, "engine_error"],
      [200, "engine_unreachable"],
      [300, "engine_unreachable"],
      [300, "response_timeout"],
    ]);
    expect(clock.pending).toBe(0);
  });

  it("as often as it may, and what is left is the last failure", async () => {
    const { shell, sent } = scripted((request) => fail(request, { code: "busy", retryable: true }));
    const outcome = await shell.send({});
    expect([outcome.error, sent.length]).toEqual([{ code: "busy", retryable: true }, 5]);
    expect(outcome.response?.response.status).toBe("error");
    const { shell: other, sent: tried } = scripted(() => Promise.reject(new TransportError("gone")));
    const failure = failureOf(await other.send({}));
    expect([failure.code, failure.retryable, tried.length]).toEqual(["engine_unreachable", true, 5]);
    expect(failure.cause).toBeInstanceOf(TransportError);
  });

  it("never, when trying again would do no good", async () => {
    const errors: [unknown, string][] = [
      [new HarnessError("unauthorized", "401"), "unauthorized"],
      [new HarnessError("forbidden", "403"), "forbidden"],
      [new HarnessError("not_found", "404"), "engine_refused"],
      [new HarnessError("tls_failed", "self-signed"), "engine_refused"],
      [new HarnessError("wrong_content_type", "html"), "invalid_response"],
      [new FrameTooLargeError(4_194_304), "invalid_response"],
      [new FrameTooLargeError(10), "unsendable"],
      [new HarnessError("request_too_large", "413"), "unsendable"],
      [new HarnessError("invalid_argument", "no"), "unsendable"],
    ];
    for (const [error, code] of errors) {
      const { shell, sent } = scripted(() => Promise.reject(error));
      const failure = failureOf(await shell.send({}));
      expect([failure.code, failure.retryable, failure.cause, sent.length]).toEqual([code, false, error, 1]);
    }
    const insecure = failureOf(await scripted(() => Promise.reject(errors[3]?.[0])).shell.send({}));
    expect(insecure.message).toBe("there is no secure connection to the engine: self-signed");
    const forbidden = failureOf(await scripted(() => Promise.reject(errors[1]?.[0])).shell.send({}));
    expect(forbidden.message).toBe("the engine's server does not allow this host, origin or principal: 403");
    for (const retryable of [false, undefined]) {
      const { shell, sent } = scripted((request) =>
        fail(request, { code: "x", ...(retryable === false && { retryable }) }),
      );
      expect([(await shell.send({})).error?.code, sent.length]).toEqual(["x", 1]);
    }
  });

  it("no sooner than the server asks, and not at all where that is later than it may be", async () => {
    const clock = manualClock();
    const busy = Object.assign(new HarnessError("unavailable", "503"), { retryAfterMs: 2000 });
    const { shell, sent } = scripted(
      (request, _call, attempt) => (attempt === 1 ? Promise.reject(busy) : respond(request)),
      { clock },
    );
    const sending = shell.send({});
    await until(() => clock.pending === 1);
    clock.advance(1999);
    await nextTurn();
    expect(sent.length).toBe(1);
    clock.advance(1);
    expect((await sending).status).toBe("success");
    const late = Object.assign(new HarnessError("unavailable", "503"), { retryAfterMs: 60_000 });
    const { shell: other, sent: once } = scripted(() => Promise.reject(late));
    expect([failureOf(await other.send({})).code, once.length]).toEqual(["engine_unreachable", 1]);
  });
});

describe("an engine that is slow", () => {
  it("or never answers is given up and told; what comes late is dropped, once and for all", async () => {
    const clock = manualClock();
    const answers: ((answer: unknown) => void)[] = [];
    const { shell, calls, sent, shown, diagnostics } = scripted(
      () => new Promise((resolve) => answers.push(resolve)),
      {
        clock,
        timeoutMs: 1000,
        retry: { maxAttempts: 1 },
      },
    );
    const sending = shell.send({});
    await until(() => answers.length === 1);
    expect(calls[0]).toMatchObject({ timeoutMs: 1000 });
    clock.advance(1000);
    expect(failureOf(await sending)).toMatchObject({ code: "response_timeout", retryable: true });
    expect(calls[0]?.signal.aborted).toBe(true);
    answers[0]?.(respond(sent[0] as Sent, [say("late")]));
    await until(() => diagnostics.length > 0);
    expect([diagnosed(diagnostics), shown]).toEqual([["late_response"], []]);
  });

  it("is left by a caller who gives up, also between two attempts, and by a client that closes", async () => {
    const abort = new AbortController();
    const { shell, calls } = scripted(never);
    const sending = shell.send({ signal: abort.signal });
    await until(() => calls.length === 1);
    abort.abort();
    expect(failureOf(await sending).code).toBe("cancelled");
    expect(calls[0]?.signal.aborted).toBe(true);
    expect(failureOf(await shell.send({ signal: AbortSignal.abort() })).code).toBe("cancelled");
    expect(calls.length).toBe(1);

    const between = new AbortController();
    const retried = scripted((request) => fail(request, { code: "x", retryable: true }), {
      clock: manualClock(),
    });
    const trying = retried.shell.send({ signal: between.signal });
    await until(() => retried.diagnostics.length === 1);
    between.abort();
    expect(failureOf(await trying).code).toBe("cancelled");

    const open = shell.send({});
    await until(() => calls.length === 2);
    await shell.close();
    await shell.close();
    expect(failureOf(await open).code).toBe("closed");
    expect(await rejection(shell.send({}))).toMatchObject({ name: "ShellClientError", code: "closed" });
  });
});

describe("over a channel", () => {
  const connect = (
    answer: (request: Sent, send: (message: unknown) => void) => void,
    options: Partial<ShellClientOptions> = {},
  ) => {
    const pair = createMemoryPair();
    const seen: Sent[] = [];
    const shown: unknown[] = [];
    const diagnostics: ShellDiagnostic[] = [];
    pair.server.start({
      message: (message) => {
        seen.push(message as Sent);
        answer(message as Sent, (reply) => void pair.server.send(reply).catch(() => {}));
      },
      error: () => {},
      close: () => {},
    });
    const shell = createShellClient({
      engine: { connect: async () => pair.client },
      executors: { render_message: ({ payload }) => void shown.push(payload?.message) },
      retry: { maxAttempts: 1 },
      onDiagnostic: (diagnostic) => diagnostics.push(diagnostic),
      ...options,
    });
    return { shell, pair, seen, shown, diagnostics };
  };

  it("tells responses apart by their ids, in whatever order they come", async () => {
    const requests: [Sent, (message: unknown) => void][] = [];
    const { shell } = connect((request, send) => {
      requests.push([request, send]);
      if (requests.length < 3) return;
      for (const [one, reply] of requests.reverse())
        reply(respond(one, [say(one.request.context?.user_intent ?? "")]));
    });
    const outcomes = await Promise.all(["a", "b", "c"].map((intent) => shell.send({ intent })));
    const texts = outcomes.map(({ results }) => results[0]?.directive.payload?.message);
    expect(texts).toEqual(["a", "b", "c"]);
    await shell.close();
  });

  it("drops what comes twice, of itself, without an id, or is no message, and goes on", async () => {
    const { shell, pair, shown, diagnostics } = connect((request, send) => {
      pair.serverWire.writeRaw("garbage\n");
      send(respond({ request_id: "req_other" }, [say("other")]));
      send(respond({}, [say("no id")]));
      send(7);
      send(respond(request, [say(`first ${request.request.context?.user_intent}`)]));
      send(respond(request, [say("twice")]));
    });
    await shell.send({ intent: "a" });
    await shell.send({ intent: "b" });
    await until(() => diagnostics.length === 10);
    expect(shown).toEqual(["first a", "first b"]);
    expect(diagnosed(diagnostics).sort()).toEqual([
      ...Array.from({ length: 2 }, () => "invalid_message"),
      ...Array.from({ length: 8 }, () => "late_response"),
    ]);
    await shell.close();
  });

  it("drops what comes late, and takes the answer to an attempt for the next one of the same request", async () => {
    const clock = manualClock();
    let send = (_message: unknown) => {};
    const { shell, seen, shown, diagnostics } = connect((_request, reply) => (send = reply), {
      clock,
      timeoutMs: 1000,
      retry: { maxAttempts: 2, initialDelayMs: 0 },
    });
    const sending = shell.send({});
    await until(() => seen.length === 1);
    clock.advance(1000);
    await until(() => clock.pending > 0);
    clock.advance(0);
    await until(() => seen.length === 2);
    expect(seen[1]).toEqual(seen[0]);
    send(respond(seen[0] as Sent, [say("of the first")]));
    expect(outcomesOf(await sending)).toEqual(["done"]);
    send(respond(seen[0] as Sent, [say("of the second")]));
    await until(() => diagnosed(diagnostics).includes("late_response"));
    expect(shown).toEqual(["of the first"]);
    await shell.close();
  });

  it("fails what is under way when it is lost, and is closed by a flood of nonsense", async () => {
    const { shell, pair } = connect(() => pair.serverWire.kill());
    expect(failureOf(await shell.send({}))).toMatchObject({ code: "engine_unreachable", retryable: true });
    expect(failureOf(await shell.send({})).code).toBe("engine_unreachable");
    const flood = connect((_request, send) => {
      for (let count = 0; count < 1001; count++) send({ count });
    });
    const outcome = await flood.shell.send({});
    expect(failureOf(outcome).code).toBe("engine_unreachable");
    expect((await flood.pair.client.closed).error).toMatchObject({
      code: "invalid_message",
      reason: "faults_in_a_row",
    });
    await Promise.all([shell.close(), flood.shell.close()]);
  });
});
