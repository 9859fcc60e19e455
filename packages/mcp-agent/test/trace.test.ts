import { setTracer, traced } from "@harnesskit/wire/trace";
import { expect, it, onTestFinished } from "vitest";
import { recordingTracer, traceIdOf } from "../../../scripts/lib/recording-tracer.ts";
import { call, hostile, serve } from "./support/serve.ts";

const metaOf = async (served: Awaited<ReturnType<typeof serve>>) => {
  const result = (await call(served.core, "meta")) as { output?: { content: { text: string }[] } };
  return JSON.parse(result.output?.content[0]?.text ?? "{}");
};

it("passes the trace of a call on to the MCP server, in _meta beside what the client has there", async () => {
  await using served = await serve({ server: hostile() });
  const tracer = recordingTracer();
  setTracer(tracer as never);
  onTestFinished(() => void setTracer(undefined));
  const answer = () => ({ approvalId: "a", answer: "once" }) as const;
  const meta = await traced("answer", answer, () => metaOf(served));
  const [outer] = tracer.begun;
  const mcpCall = tracer.begun.find(({ operation }) => operation === "mcpCall");
  expect(meta).toMatchObject({ progressToken: expect.anything(), ...mcpCall?.context });
  expect(traceIdOf(meta)).toBe(traceIdOf(outer?.context));
  setTracer(undefined);
  expect(await metaOf(served)).toEqual({ progressToken: expect.anything() });
});
