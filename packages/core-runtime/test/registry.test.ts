import { describe, expect, it } from "vitest";
import { cpuTimer } from "../../../test-kit/test-kit.ts";
import type { CoreOptions } from "../src/index.ts";
import {
  echoTool,
  launchOf,
  type Message,
  open,
  openAudited,
  silentObserver,
} from "./support/scripted-agent.ts";

const agentOf = async (options: CoreOptions = {}) => {
  const { core, entries } = openAudited(options);
  const { token } = core.admit(launchOf("demo.agent"), silentObserver);
  const agent = open(core);
  await agent.connect(token);
  const toolIds = () => core.tools().map(({ tool_id }) => tool_id);
  return { core, agent, entries, toolIds };
};

const codesOf = (answer: Message): Record<string, string> =>
  Object.fromEntries((answer.payload.rejected ?? []).map(({ tool_id, error }: any) => [tool_id, error.code]));

describe("a registration", () => {
  it("rejects each wrong tool with its reason, and takes the others", async () => {
    const { agent, toolIds, entries } = await agentOf({ limits: { maxToolBytes: 2000, maxTools: 3 } });
    const wrong: [string, Message][] = [
      ["tool.not_namespaced", echoTool("other.agent", "a")],
      ["tool.not_namespaced", echoTool("demo.agent", "b/c")],
      ["tool.not_namespaced", { ...echoTool(), tool_id: "bare" }],
      ["tool.invalid_declaration", { ...echoTool("demo.agent", "d"), name: "e" }],
      ["tool.invalid_declaration", { ...echoTool("demo.agent", "f"), description: 1 }],
      ["tool.invalid_declaration", { ...echoTool("demo.agent", "g"), input_schema: [] }],
      ["tool.invalid_declaration", { ...echoTool("demo.agent", "h"), input_schema: { type: "thing" } }],
      [
        "tool.invalid_declaration",
        { ...echoTool("demo.agent", "i"), output_schema: { $ref: "https://x.example" } },
      ],
      ["tool.invalid_declaration", { ...echoTool("demo.agent", "j"), input_schema: { const: "\ud800" } }],
      ["tool.declaration_too_large", { ...echoTool("demo.agent", "k"), description: "x".repeat(2000) }],
      ["tool.conflict", echoTool()],
    ];
    const answer = await agent.register([
      echoTool(),
      ...wrong.map(([, tool]) => tool),
      echoTool("demo.agent", "last"),
    ]);
    expect(answer.payload.registered).toEqual(["demo.agent/echo", "demo.agent/last"]);
    expect(answer.payload.rejected.map(({ error }: any) => error.code)).toEqual(wrong.map(([code]) => code));
    expect(answer.payload.rejected.map(({ tool_id }: any) => tool_id)).toEqual(
      wrong.map(([, tool]) => tool.tool_id),
    );
    expect(toolIds()).toEqual(["demo.agent/echo", "demo.agent/last"]);
    const many = await agent.register([echoTool("demo.agent", "third"), echoTool("demo.agent", "fourth"), 7]);
    expect(codesOf(many)).toEqual({ "demo.agent/fourth": "tool.too_many", "": "tool.too_many" });
    expect(entries().at(-1)).toMatchObject({
      action: "tool.rejected",
      outcome: "refused",
      details: { code: "tool.too_many", reason: "an agent may have 3 tools" },
    });
    expect(entries().at(-2)).toMatchObject({ action: "tool.rejected", tool_id: "demo.agent/fourth" });
    expect(entries().at(-3)).toMatchObject({
      action: "tools.registered",
      outcome: "refused",
      details: { registered: 1, rejected: 2 },
    });
  });

  it("bounds what the tools take together", async () => {
    const { agent } = await agentOf({ limits: { maxRegistryLength: 3000 } });
    const large = (name: string) => echoTool("demo.agent", name, { description: "x".repeat(1000) });
    const answer = await agent.register([large("a"), large("b")]);
    expect(codesOf(answer)).toEqual({ "demo.agent/b": "tool.declaration_too_large" });
    agent.send("agent.tools.unregister", { tool_ids: ["demo.agent/a"] });
    expect((await agent.register([large("b")])).payload.registered).toEqual(["demo.agent/b"]);
    expect((await agent.register([large("c")], true)).payload.registered).toEqual(["demo.agent/c"]);
  });

  it("is waited for: before the first one an agent's tools are unavailable, and only then not there", async () => {
    const { core, agent } = await agentOf();
    const errorOf = async () => {
      const result = await core.call("demo.agent/a", { text: "" }).result;
      return result.status === "succeeded" ? undefined : result.error;
    };
    expect(await errorOf()).toMatchObject({ code: "agent.unavailable", retryable: true });
    await agent.register([{ tool_id: "demo.agent/a" }]);
    expect(await errorOf()).toMatchObject({ code: "tool.not_found" });
  });

  it("of 10,000 tools, of a full frame and of nothing but rubbish takes little time", async () => {
    const { agent, toolIds } = await agentOf();
    const timed = async (tools: unknown[]) => {
      const spentMs = cpuTimer();
      const answer = await agent.register(tools, true);
      return { answer, ms: spentMs() };
    };
    const many = await timed(Array.from({ length: 10_000 }, (_, n) => echoTool("demo.agent", `t${n}`)));
    expect(many.answer.payload.registered).toHaveLength(1024);
    expect(many.answer.payload.rejected.length).toBeGreaterThan(1000);
    expect(many.answer.payload.rejected[0].error.code).toBe("tool.too_many");
    expect(toolIds()).toHaveLength(1024);
    const properties = Object.fromEntries(
      Array.from({ length: 450 }, (_, n) => [
        `property_${n}`,
        { type: "string", pattern: n < 60 ? `^a{${n}}b+$` : undefined },
      ]),
    );
    const wide = { input_schema: { type: "object", properties: JSON.parse(JSON.stringify(properties)) } };
    const full = await timed(Array.from({ length: 170 }, (_, n) => echoTool("demo.agent", `w${n}`, wide)));
    expect(full.answer.payload.registered).toHaveLength(170);
    const rubbish = await timed(Array.from({ length: 800_000 }, () => ({})));
    expect(rubbish.answer.payload.registered).toEqual([]);
    expect(rubbish.answer.payload.rejected.length).toBeLessThan(5000);
    // Generous, because other work may share this machine; without bounds each takes many seconds.
    expect(Math.max(many.ms, full.ms, rubbish.ms)).toBeLessThan(6000);
  });
});
