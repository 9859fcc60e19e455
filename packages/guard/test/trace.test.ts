import { join } from "node:path";
import { Readable } from "node:stream";
import { createAhpServer } from "@harnesskit/ahp-server";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { parentOf, RecordedSpans, traceparentOf } from "../../../test-kit/recorded-spans.ts";
import { runHook } from "../src/hook/index.ts";
import { createGuard, createHookHandler, createHookListener } from "../src/index.ts";
import { codexInput, makeDirectory } from "./support/hooks.ts";
import { guardServer, hostile, textOf } from "./support/mcp.ts";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;

const traceIdOf = (metadata: unknown) =>
  (metadata as { traceparent?: string } | undefined)?.traceparent?.split("-")[1];

/** What a hook's span belongs to, and what its harness was told of it. */
const hookSpan = (sdk: RecordedSpans) => {
  const [hook, ...more] = sdk.all.filter(({ attributes }) => attributes["harness.decision.by"] === "guard");
  if (hook === undefined || more.length > 0) throw new Error("not one span of a hook");
  return { parent: parentOf(hook), told: traceparentOf(hook) };
};

/** A guard, and the metadata of what its harness was asked. */
const guarded = () => {
  const asked: unknown[] = [];
  const harness = createAhpServer({
    name: "test",
    version: "1.0.0",
    handlers: {
      pre_action: ({ metadata }) => {
        asked.push(metadata);
        return { decision: "allow" };
      },
    },
  });
  return { guard: createGuard({ harness, version: "1.0.0" }), asked };
};

describe("the trace of a coding agent", () => {
  it("goes on over the headers of an HTTP hook to the harness", async () => {
    await using sdk = new RecordedSpans();
    const { guard, asked } = guarded();
    const headers = { traceparent, tracestate: "vendor=1" };
    const request = new Request("http://x/", { method: "POST", body: codexInput("ls"), headers });
    expect((await createHookHandler(guard, "claude-code")(request)).status).toBe(200);
    const { parent, told } = hookSpan(sdk);
    expect(parent).toBe("00f067aa0ba902b7");
    expect(asked).toMatchObject([{ traceparent: told, tracestate: "vendor=1" }]);
    expect(traceIdOf(asked[0])).toBe(traceId);
  });

  it("goes on over TRACEPARENT and TRACESTATE of the hook's process", async () => {
    await using sdk = new RecordedSpans();
    const { guard, asked } = guarded();
    const path = join(await makeDirectory(), "guard.sock");
    const listener = createHookListener({ guard, path });
    await listener.listen();
    onTestFinished(() => listener.close());
    vi.stubEnv("TRACEPARENT", traceparent);
    vi.stubEnv("TRACESTATE", "vendor=1");
    onTestFinished(() => void vi.unstubAllEnvs());
    const stdin = Readable.from([Buffer.from(codexInput("ls"))]);
    expect(await runHook({ host: "codex", socket: path }, { stdin })).toMatchObject({ exitCode: 0 });
    expect(hookSpan(sdk).parent).toBe("00f067aa0ba902b7");
    expect(asked).toMatchObject([{ tracestate: "vendor=1" }]);
    expect(traceIdOf(asked[0])).toBe(traceId);
  });
});

describe("the trace of an MCP client", () => {
  it("goes on over _meta of a call to the harness, and to the server as it came", async () => {
    await using _sdk = new RecordedSpans();
    const { client, events } = await guardServer(hostile("meta"), () => ({ decision: "allow" }));
    const meta = { traceparent, tracestate: "vendor=1" };
    const result = await client.callTool({ name: "meta", arguments: {}, _meta: meta });
    expect(JSON.parse(textOf(result))).toMatchObject(meta);
    await client.callTool({ name: "meta", arguments: {}, _meta: { traceparent: 7 } });
    const asked = events.filter(({ type }) => type === "pre_action").map(({ metadata }) => metadata);
    expect(asked[0]).toMatchObject({ tracestate: "vendor=1" });
    expect(asked.map(traceIdOf)).toEqual([traceId, expect.not.stringContaining(traceId)]);
  });
});
