import { type AhpEventType, ahpEvents, ahpMethods } from "@harnesskit/protocol/ahp";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test-kit/nightly.ts";
import { type AhpHandlers, createAhpServer } from "../src/index.ts";
import { event, handshake, notification, request } from "./support/messages.ts";
import { startServer } from "./support/server.ts";

const types = Object.keys(ahpEvents) as AhpEventType[];
const query = { session_id: "sess-abc", agent_id: "a", query_type: "t", payload: { question: "?" } };

/** Valid messages of every kind. */
const valid: readonly unknown[] = [
  request("h", "ahp/handshake", handshake()),
  ...types.map((type) =>
    ahpEvents[type].blocking
      ? request(type, "ahp/event", event(type))
      : notification("ahp/event", event(type)),
  ),
  request(5, "ahp/batch", { events: [event("pre_action"), event("task_list"), event("success")] }),
  request(null, "ahp/query", query),
];

const keys = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "then",
  "toJSON",
  "hasOwnProperty",
  "length",
];

/** JSON that was not made for this. */
const junk: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>("", 0, -1, 1e308, null, [], {}, "handshake", "\u0000", "9".repeat(5000)),
  fc.dictionary(fc.constantFrom(...keys), fc.jsonValue({ maxDepth: 1 })).map((value) =>
    // A key __proto__ of its own, as JSON.parse makes it.
    JSON.parse(JSON.stringify(value).replace("{", '{"__proto__":{"polluted":true},').replace(",}", "}")),
  ),
);

interface Mutation {
  readonly at: number;
  readonly key: string | undefined;
  readonly value: unknown;
  readonly kind: "replace" | "remove" | "add" | "wrap";
}

const mutation: fc.Arbitrary<Mutation> = fc.record({
  at: fc.nat(40),
  key: fc.option(fc.constantFrom(...keys), { nil: undefined }),
  value: junk,
  kind: fc.constantFrom("replace", "remove", "add", "wrap"),
});

type Place = { holder: Record<string, unknown>; key: string };

const placesIn = (value: unknown, found: Place[] = []): Place[] => {
  if (typeof value !== "object" || value === null) return found;
  for (const key of Object.keys(value)) {
    found.push({ holder: value as Record<string, unknown>, key });
    placesIn((value as Record<string, unknown>)[key], found);
  }
  return found;
};

/** The message with something in it changed: a field gone, another kind of value, a key that means something to JavaScript. */
const mutate = (message: unknown, { at, key, value, kind }: Mutation): unknown => {
  const copy: unknown = structuredClone(message);
  const places = placesIn(copy);
  const place = places[at % Math.max(1, places.length)];
  if (!place) return value;
  if (kind === "remove") delete place.holder[place.key];
  else if (kind === "wrap") place.holder[place.key] = [place.holder[place.key]];
  else if (kind === "add" && Array.isArray(place.holder)) place.holder.push(value);
  else {
    const name = kind === "add" && key ? key : place.key;
    Object.defineProperty(place.holder, name, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return copy;
};

const hostile = fc
  .tuple(fc.constantFrom(...valid), fc.array(mutation, { minLength: 0, maxLength: 3 }))
  .map(([message, changes]) => changes.reduce(mutate, message))
  // As it comes off a wire: without -0.
  .map((message): unknown => JSON.parse(JSON.stringify(message)));

const handlers = {
  fallback: () => ({ decision: "allow" }),
  confirmation: () => ({ decision: "approve" }),
  query: async () => ({ answer: "yes" }),
  pre_prompt: async () => ({ decision: "allow" }),
} satisfies AhpHandlers;

const codes = [-32700, -32600, -32601, -32602, -32603, -32000];

const checkReply = (message: unknown, reply: unknown): void => {
  const { jsonrpc, id, method } = (message ?? {}) as { jsonrpc?: unknown; id?: unknown; method?: unknown };
  const isCall = jsonrpc === "2.0" && typeof method === "string";
  if (isCall && id === undefined) {
    if (reply === undefined) return;
    expect(reply).toMatchObject({ id: "", error: {} });
  }
  expect(reply).toMatchObject({ jsonrpc: "2.0" });
  const answer = reply as { id: unknown; result?: unknown; error?: { code: number; message: string } };
  if (isCall && (typeof id === "string" || id === null)) expect(answer.id).toBe(id);
  expect((answer.result === undefined) !== (answer.error === undefined)).toBe(true);
  if (answer.error) expect(codes).toContain(answer.error.code);
  if (answer.error) expect(answer.error.message.length).toBeLessThan(600);
  if (answer.result !== undefined && method === "ahp/batch") {
    expect(ahpMethods["ahp/batch"].result.safeParse(answer.result).success).toBe(true);
  }
  expect(JSON.parse(JSON.stringify(reply))).toEqual(reply);
};

describe("whatever comes", () => {
  it("is answered over an exchange, before and after a handshake, and changes no prototype", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(hostile, { maxLength: 8 }), fc.boolean(), async (messages, isShaken) => {
        const { post, shake, server, errors } = startServer(handlers);
        if (isShaken) await shake();
        for (const message of messages) {
          const before = JSON.stringify(message);
          checkReply(message, await post(message));
          expect(JSON.stringify(message)).toBe(before);
        }
        expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
        expect(errors).toEqual([]);
        expect(server.stats().pending).toBe(0);
        for (const { run_id } of server.state.runs()) expect(typeof run_id).toBe("string");
      }),
      { numRuns: runs(200) },
    );
  });
});

describe("deep and wide values", () => {
  const nested = (depth: number): unknown => JSON.parse(`${"[".repeat(depth)}${"]".repeat(depth)}`);

  it("without a codec before them are refused and crash nothing", async () => {
    const { ask, shake, errors } = startServer(handlers);
    await shake();
    for (const depth of [1000, 100_000]) {
      const { result, error } = await ask("ahp/event", event("pre_action", { payload: nested(depth) }));
      if (error) expect(error).toMatchObject({ code: -32602, data: { reason: "too_deep" } });
      else expect(result).toEqual({ decision: "allow" });
    }
    expect((await ask("ahp/event", event("pre_action", { payload: nested(100_000) }))).error?.code).toBe(
      -32602,
    );
    expect(errors).toEqual([]);
  });

  it("of keys that mean something to JavaScript reach the handler without __proto__", async () => {
    const seen: unknown[] = [];
    const server = createAhpServer({
      name: "n",
      version: "1",
      handlers: {
        pre_action: ({ payload, metadata }) => {
          seen.push(payload, metadata);
          return { decision: "allow" };
        },
      },
    });
    await server.handle(request("h", "ahp/handshake", handshake()), {});
    const text = '{"__proto__":{"polluted":1},"constructor":1,"a":{"__proto__":{"polluted":2},"b":1}}';
    const params = event("pre_action", { payload: JSON.parse(text), metadata: JSON.parse(text) });
    expect(await server.handle(request("1", "ahp/event", params), {})).toMatchObject({
      result: { decision: "allow" },
    });
    for (const value of seen) expect(JSON.stringify(value)).toBe('{"constructor":1,"a":{"b":1}}');
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});
