import { answerSpan, traced } from "@harnesskit/wire/trace";
import { expect, it } from "vitest";
import { RecordedSpans, traceOf, traceparentOf } from "../../../test-kit/recorded-spans.ts";
import { call, hostile, serve } from "./support/serve.ts";

const metaOf = async (served: Awaited<ReturnType<typeof serve>>) => {
  const result = (await call(served.core, "meta")) as { output?: { content: { text: string }[] } };
  return JSON.parse(result.output?.content[0]?.text ?? "{}");
};

it("passes the trace of a call on to the MCP server, in _meta beside what the client has there", async () => {
  await using served = await serve({ server: hostile() });
  {
    await using sdk = new RecordedSpans();
    const meta = await traced(
      () => answerSpan("a", "once"),
      () => metaOf(served),
    );
    const called = sdk.one("tools/call meta");
    expect(meta).toEqual({
      progressToken: expect.anything(),
      traceparent: traceparentOf(called),
    });
    expect(traceOf(called)).toBe(traceOf(sdk.one("harness.approval.answer")));
  }
  expect(await metaOf(served)).toEqual({ progressToken: expect.anything() });
});
