import { join } from "node:path";
import { createChatHarness, messagesField, toApprovalPayload } from "@harnesskit/chat-harness";
import { createChatGraph } from "@harnesskit/chat-harness/ai-sdk";
import { append, defineGraph, defineState, END, lastWriteWins } from "@harnesskit/graph";
import { openSqliteStore } from "@harnesskit/store-sqlite";
import { createManualClock } from "@harnesskit/wire/testing";
import { SpanStatusCode } from "@opentelemetry/api";
import { tool } from "ai";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { idOf, linksOf, parentOf, traceOf } from "../../../test-kit/recorded-spans.ts";
import { temporaryDirectory } from "../../../test-kit/test-kit.ts";
import { logFields } from "../src/index.ts";
import { observed } from "./support/observed.ts";
import { says, scriptedModel } from "./support/scripted-model.ts";

const secret = "hunter2";

describe("a chat turn that waits five minutes for an approval and is resumed by another process", () => {
  it("is one trace: turn, invocation and nodes; the approval; and the resumed turn, linked to pause and answer", async () => {
    await using sdk = observed();
    await using dir = await temporaryDirectory();
    const clock = createManualClock(1_700_000_000_000);
    const open = async (answer: ReturnType<typeof says>) => {
      const graph = createChatGraph({
        model: scriptedModel(answer),
        tools: {
          send: tool({
            inputSchema: z.object({ to: z.string() }),
            needsApproval: true,
            execute: ({ to }) => `sent to ${to}`,
          }),
        },
      });
      const store = await openSqliteStore({ file: join(dir.path, "chat.db"), clock });
      return { store, harness: createChatHarness({ graph, store, clock }) };
    };
    const first = await open(says("", { name: "send", input: { to: secret } }));
    const paused = await first.harness.send("session-1", { role: "user", content: `Write to ${secret}` });
    if (paused.outcome !== "suspended") throw new Error("the turn did not pause");
    await first.harness.close();
    await first.store.close();
    clock.advance(300_000);
    const second = await open(says(`Sent to ${secret}.`));
    const payload = toApprovalPayload({ decision: "approve" });
    expect(
      await second.harness.signal({ signalId: paused.signal_descriptor.signal_id, payload }),
    ).toMatchObject({
      outcome: "resumed",
    });
    await second.harness.close();
    await second.store.close();

    const [asked, resumed] = sdk.named("invoke_workflow chat");
    const [invoked, again] = sdk.named("openarmature.invocation");
    if (!asked || !resumed || !invoked || !again) throw new Error("spans are missing");
    expect(new Set(sdk.all.map(traceOf)).size).toBe(1);
    expect(parentOf(invoked)).toBe(idOf(asked));
    expect(invoked.status.code).toBe(SpanStatusCode.OK);
    expect(invoked.attributes).toMatchObject({
      "openarmature.outcome": "suspended",
      "openarmature.session_id": "session-1",
      "openarmature.invocation_id": paused.invocation_id,
    });
    expect(again.attributes["openarmature.invocation_id"]).toBe(paused.invocation_id);
    expect(parentOf(again)).toBe(idOf(resumed));
    expect(linksOf(again)).toEqual([idOf(invoked)]);
    expect(linksOf(resumed)).toEqual([idOf(invoked)]);
    expect(resumed.attributes).toMatchObject({
      "harness.chat.path": "signal_resume",
      "openarmature.suspension.signal_id": paused.signal_descriptor.signal_id,
      "openarmature.suspension.metadata.kind": "tool_approval",
    });
    const approval = sdk.one("harness.approval send");
    expect(parentOf(approval)).toBe(idOf(invoked));
    expect(approval.duration[0]).toBe(300);
    expect(approval.attributes["harness.approval.answer"]).toBe("approved");
    const waiting = sdk.all.find(
      ({ attributes }) => attributes["openarmature.node.name"] && attributes["openarmature.outcome"],
    );
    expect(waiting?.status.code).toBe(SpanStatusCode.OK);
    expect(waiting?.attributes).toMatchObject({
      "openarmature.outcome": "suspended",
      "openarmature.suspension.signal_id": paused.signal_descriptor.signal_id,
    });
    const own = sdk.all.filter(({ name }) => !name.startsWith("harness.approval"));
    for (const { name, attributes } of own) {
      expect({ name, session: attributes["openarmature.session_id"] }).toEqual({
        name,
        session: "session-1",
      });
    }
    expect(sdk.text).not.toContain(secret);
  });

  it.each([
    ["rejected", { decision: "reject" }],
    ["unattended", { decision: "reject", unattended: true }],
  ] as const)("has the answer to an approval: %s", async (answer, given) => {
    await using sdk = observed();
    const model = scriptedModel(says("", { name: "send", input: {} }), says("Then not."));
    const send = tool({ inputSchema: z.object({}), needsApproval: true, execute: () => "sent" });
    const harness = createChatHarness({ graph: createChatGraph({ model, tools: { send } }) });
    const paused = await harness.send("session-1", { role: "user", content: "hi" });
    if (paused.outcome !== "suspended") throw new Error("the turn did not pause");
    const { signal_id: signalId } = paused.signal_descriptor;
    await harness.signal({ signalId, payload: toApprovalPayload(given) });
    await harness.close();
    expect(sdk.one("harness.approval send").attributes["harness.approval.answer"]).toBe(answer);
  });

  it("shows the suspension's metadata where content was asked for", async () => {
    await using sdk = observed({ content: true });
    const state = defineState({ messages: messagesField() });
    const graph = defineGraph(state)
      .node("wait", (_, { suspend }) => suspend({ signal_id: "s", metadata: { description: secret } }))
      .entry("wait")
      .edge("wait", END);
    const harness = createChatHarness({ graph });
    await harness.send("session-1", { role: "user", content: "hi" });
    await harness.close();
    expect(sdk.one("wait").attributes["openarmature.suspension.metadata.description"]).toBe(secret);
  });
});

describe("a graph", () => {
  it("has a span for each attempt of a node, with what the specification names, and errors as categories", async () => {
    await using sdk = observed();
    const inner = defineGraph(
      defineState({
        item: lastWriteWins(z.number(), { default: 0 }),
        out: lastWriteWins(z.number(), { default: 0 }),
      }),
    )
      .node("double", ({ item }) => ({ out: 2 * item }))
      .entry("double")
      .edge("double", END)
      .compile();
    const state = defineState({
      items: lastWriteWins(z.array(z.number()), { default: [1, 2] }),
      sums: append(z.number()),
    });
    const graph = defineGraph(state)
      .fanOut("each", {
        graph: inner,
        itemsField: "items",
        itemField: "item",
        collectField: "out",
        targetField: "sums",
      })
      .node("fails", () => {
        throw new Error(secret);
      })
      .entry("each")
      .edge("each", "fails")
      .edge("fails", END)
      .compile();
    await expect(graph.invoke({})).rejects.toMatchObject({ code: "node_exception" });
    const invocation = sdk.one("openarmature.invocation");
    expect(invocation.status).toEqual({ code: SpanStatusCode.ERROR, message: "node_exception" });
    expect(invocation.attributes).not.toHaveProperty("openarmature.session_id");
    const each = sdk.one("each");
    expect(parentOf(each)).toBe(idOf(invocation));
    expect(each.attributes).toMatchObject({ "openarmature.fan_out.item_count": 2 });
    const doubled = sdk.named("double");
    expect(doubled.map(({ attributes }) => attributes["openarmature.node.fan_out_index"])).toEqual([0, 1]);
    for (const span of doubled) {
      expect(parentOf(span)).toBe(idOf(each));
      expect(span.attributes["openarmature.node.namespace"]).toEqual(["each", "double"]);
      expect(span.status.code).toBe(SpanStatusCode.OK);
    }
    expect(sdk.one("fails").attributes).toMatchObject({
      "openarmature.error.category": "node_exception",
      "openarmature.node.attempt_index": 0,
    });
    expect(sdk.text).not.toContain(secret);
    expect(sdk.all.filter(({ attributes }) => "openarmature.session_id" in attributes)).toEqual([]);
  });

  it("gives log lines the fields of its session, and none outside of one", async () => {
    await using sdk = observed();
    const seen: object[] = [];
    const graph = defineGraph(defineState({ messages: messagesField() }))
      .node("log", () => {
        seen.push(logFields());
        return {};
      })
      .entry("log")
      .edge("log", END);
    const harness = createChatHarness({ graph });
    await harness.send("session-1", { role: "user", content: "hi" });
    await harness.close();
    const node = sdk.one("log");
    expect(seen).toEqual([
      { trace_id: traceOf(node), span_id: idOf(node), "openarmature.session_id": "session-1" },
    ]);
    expect(logFields()).toEqual({});
  });
});
