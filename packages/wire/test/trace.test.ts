import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  activeTrace,
  inTrace,
  isTraceparent,
  readTraceContext,
  traced,
  withTraceMeta,
} from "../src/trace/index.ts";

const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

describe("the trace context of a peer", () => {
  it("is read with its tracestate", () => {
    expect(readTraceContext({ traceparent, tracestate: "a=1,b=2" })).toEqual({
      traceparent,
      tracestate: "a=1,b=2",
    });
  });

  it("of a later version may have more fields, one of version 00 may not", () => {
    expect(isTraceparent(traceparent.replace("00-", "cc-").concat("-more"))).toBe(true);
    expect(isTraceparent(`${traceparent}-more`)).toBe(false);
  });

  it.each(["", "a".repeat(513), "a=\n", 7, null])("has no tracestate where that is %j", (tracestate) => {
    expect(readTraceContext({ traceparent, tracestate })).toEqual({ traceparent });
  });

  it.each([
    undefined,
    null,
    traceparent,
    {},
    { tracestate: "a=1" },
    { traceparent: traceparent.toUpperCase() },
    { traceparent: traceparent.replace("00-", "ff-") },
    { traceparent: `cc-${traceparent.slice(3)}-${"x".repeat(200)}` },
    { traceparent: [traceparent] },
    {
      get traceparent(): string {
        throw new Error("hostile");
      },
    },
  ])("is ignored where it is not valid (%#)", (carrier) => {
    expect(readTraceContext(carrier)).toBeUndefined();
  });

  it("of any JSON is read without a throw, and is valid where it is read", () => {
    const hex = (length: number) =>
      fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: length, maxLength: length });
    const near = fc.tuple(hex(2), hex(32), hex(16), hex(2)).map((parts) => parts.join("-"));
    const carrier = fc.oneof(
      fc.jsonValue(),
      fc.record({ traceparent: fc.oneof(near, fc.string()), tracestate: fc.jsonValue() }),
    );
    fc.assert(
      fc.property(carrier, (value) => {
        const read = readTraceContext(value);
        expect(read === undefined || isTraceparent(read.traceparent)).toBe(true);
      }),
    );
  });
});

describe("without an SDK", () => {
  it("work is done as it is, and nothing else is called", async () => {
    const never = () => {
      throw new Error("called");
    };
    expect(await traced(never, async (span) => span === undefined)).toBe(true);
    expect(inTrace({ traceparent }, () => activeTrace())).toBeUndefined();
    const params = {};
    expect(withTraceMeta(params)).toBe(params);
  });
});
