import { describe, expect, it } from "vitest";
import * as z from "zod";
import { ahp } from "../src/documented.ts";
import { JsonRpcErrorCode } from "../src/envelope/index.ts";
import * as threads from "../src/threads/index.ts";
import { ItemSchema } from "../src/threads/item.ts";
import { FileInputSchema } from "../src/threads/thread.ts";
import { documents, examples } from "./documents.ts";
import { published } from "./support/published.ts";

const isSchema = (entry: [string, unknown]): entry is [string, z.ZodType] => entry[1] instanceof z.ZodType;
const schemas: Record<string, z.ZodType> = Object.fromEntries([
  ...Object.entries(ahp).filter(isSchema),
  ...[...published].map(([name, [, schema]]) => [name, schema] as const),
]);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The schemas that keep unknown keys: they stand for any JSON, or announce extensions. */
const open = [
  "JsonValueSchema",
  "JsonObjectSchema",
  "ThreadCapabilitiesSchema",
  "ahp/event result",
  "ExtensionsSchema",
  "EnvironmentStateSchema",
  "ToolCallPayloadSchema",
  "PromptPayloadSchema",
  // Their one key says of which kind they are: another one is refused.
  "TargetSchema",
  "PlanningStrategySchema",
  "ReasoningTypeSchema",
  "LimitTypeSchema",
  "ConfirmationTypeSchema",
];

/** What they need depends on more than the form. */
const conditional = [
  ...["ChatMessageSchema", "JsonValueSchema", "JsonObjectSchema", "ThreadCapabilitiesSchema"],
  ...["TargetSchema", "approval.resolved", "ahp/event result", "ContextPerceptionPayloadSchema"],
];

const tried = Object.entries(documents).filter(([name]) => name in schemas);

describe("the schemas", () => {
  it("all have documents that they are tried with", () => {
    expect([...published.keys()].filter((name) => !(name in documents))).toEqual([]);
  });

  it.each(tried)("%s accepts what the specification shows, and changes nothing of it", (name, list) => {
    expect(list.length).toBeGreaterThan(0);
    for (const document of list) expect(schemas[name]?.parse(document)).toEqual(document);
  });

  it.each(tried.filter(([name, list]) => list.some(isObject) && !open.includes(name)))(
    "%s ignores unknown fields, a hostile one among them",
    (name, list) => {
      for (const document of list.filter(isObject)) {
        const text = JSON.stringify(document);
        const extended = `${text.slice(0, -1)}${text === "{}" ? "" : ","}"unknown":{"a":1},"__proto__":{"polluted":1}}`;
        const parsed = schemas[name]?.parse(JSON.parse(extended));
        expect(parsed).toEqual(document);
        expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
      }
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    },
  );

  /** Of messages with several forms, the one that a document has. */
  const formOf = ({ type, decision, outcome }: Record<string, unknown>): string =>
    String(type ?? decision ?? outcome);

  it.each(tried.filter(([name, list]) => list.some(isObject) && !conditional.includes(name)))(
    "%s needs exactly what the shortest document of each form has, each of its own type",
    (name, list) => {
      const accepts = (document: object) => schemas[name]?.safeParse(document).success;
      const all = list.filter(isObject).sort((a, b) => Object.keys(b).length - Object.keys(a).length);
      const shortest = new Map(all.map((document) => [formOf(document), document]));
      for (const document of all) {
        for (const key of Object.keys(document)) {
          const { [key]: _left, ...rest } = document;
          const isNeeded = key in (shortest.get(formOf(document)) ?? {});
          expect([key, document, accepts(rest)]).toEqual([key, document, !isNeeded]);
          expect(accepts({ ...document, [key]: Symbol.for("no JSON value") })).toBe(false);
        }
      }
    },
  );

  it.each([null, 1, "text", true, []])("those of objects refuse %j", (value) => {
    for (const [name, list] of tried) {
      if (!list.every(isObject)) continue;
      expect([name, schemas[name]?.safeParse(value).success]).toEqual([name, false]);
    }
  });

  it("keep what is announced beyond the five capabilities", () => {
    const [, extended] = documents.ThreadCapabilitiesSchema ?? [];
    expect(threads.ThreadCapabilitiesSchema.parse(extended)).toHaveProperty("subscriptions", { version: 1 });
  });
});

describe("the edges of the thread schemas", () => {
  it.each([
    ["neither a path nor a uri", {}],
    ["both a path and a uri", { path: "a", uri: "b" }],
    ["an empty path", { path: "" }],
  ])("a file with %s is refused", (_what, fields) => {
    expect(FileInputSchema.safeParse({ type: "file", ...fields }).success).toBe(false);
  });

  it.each([
    ["no input", { input: [] }],
    ["an unknown input type", { input: [{ type: "image" }] }],
    ["an empty model name", { model: { providerID: "a", modelID: "" } }],
    ["a numeric thread", { threadId: 1 }],
  ])("turn.start with %s is refused", (_what, fields) => {
    const params = { threadId: "ses_1", input: [examples.text], ...fields };
    expect(threads.threadMethods["turn.start"].params.safeParse(params).success).toBe(false);
  });

  it.each([-1, 1.5, "1"])("thread.get after the event %j is refused", (afterSeq) => {
    const { params } = threads.threadMethods["thread.get"];
    expect(params.safeParse({ threadId: "ses_1", afterSeq }).success).toBe(false);
  });

  it.each(["Once", "allow", "", null, true])("the decision %j is refused", (decision) => {
    const { params } = threads.threadMethods["approval.respond"];
    expect(params.safeParse({ requestId: "apr_1", decision }).success).toBe(false);
  });

  it.each(["initialize", "thread.create", "thread.list"] as const)("%s takes no params at all", (method) => {
    expect(threads.threadMethods[method].params.safeParse(undefined).success).toBe(true);
  });

  it("an item's data belongs to its type", () => {
    const [userMessage] = examples.items;
    expect(ItemSchema.safeParse({ ...userMessage, type: "tool_exec" }).success).toBe(false);
    expect(ItemSchema.safeParse({ ...userMessage, type: "unheard_of" }).success).toBe(false);
  });

  it("an event is numbered from 1", () => {
    const [event] = examples.events;
    for (const seq of [0, -1, 1.5])
      expect(threads.EventSchema.safeParse({ ...event, seq }).success).toBe(false);
  });
});

describe("the literals that others rely on", () => {
  it("are these error codes", () => {
    expect(JsonRpcErrorCode).toStrictEqual({
      ParseError: -32700,
      InvalidRequest: -32600,
      MethodNotFound: -32601,
      InvalidParams: -32602,
      InternalError: -32603,
    });
    expect(threads.ThreadErrorCode).toStrictEqual({
      ThreadNotFound: -32001,
      TurnBusy: -32002,
      TurnNotFound: -32003,
      ApprovalNotFound: -32004,
      RequestConflict: -32005,
      ThreadArchived: -32006,
    });
  });

  it("are this version", () => {
    expect(threads.THREAD_PROTOCOL_VERSION).toBe("1.0.0");
  });
});
