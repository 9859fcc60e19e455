import { describe, expect, expectTypeOf, it, vi } from "vitest";
import {
  BufferFullError,
  ConnectionClosedError,
  FrameTooLargeError,
  HarnessError,
  InvalidArgumentError,
  InvalidMessageError,
  invalidParams,
  methodNotFound,
  ProtocolError,
  RequestCancelledError,
  RequestTimeoutError,
  TransportError,
} from "../src/index.ts";
import { toProtocolError } from "../src/protocol-error.ts";

describe("local errors", () => {
  it.each([
    [new ConnectionClosedError(), "ConnectionClosedError", "connection_closed"],
    [new RequestTimeoutError("m", 5), "RequestTimeoutError", "request_timeout"],
    [new RequestCancelledError("m"), "RequestCancelledError", "request_cancelled"],
    [new FrameTooLargeError(9), "FrameTooLargeError", "frame_too_large"],
    [new InvalidMessageError("not_json", "x"), "InvalidMessageError", "invalid_message"],
    [new BufferFullError("limit", 1), "BufferFullError", "buffer_full"],
    [new TransportError("x"), "TransportError", "transport_failed"],
    [new InvalidArgumentError("x"), "InvalidArgumentError", "invalid_argument"],
    [new HarnessError("own_code", "x"), "HarnessError", "own_code"],
    [new ProtocolError(-32001, "x"), "ProtocolError", "protocol_error"],
  ])("%s have the name %s and the code %s", (error, name, code) => {
    expect(error).toBeInstanceOf(Error);
    expect(error.name).toBe(name);
    expect(error.code).toBe(code);
    expect(HarnessError.isInstance(error)).toBe(true);
  });

  it("keep their cause", () => {
    const cause = { any: "thing" };
    expect(new TransportError("x", { cause }).cause).toBe(cause);
    expect(new ProtocolError(1, "x", { cause }).cause).toBe(cause);
    expect("cause" in new ProtocolError(1, "x")).toBe(false);
    expect("cause" in new HarnessError("own_code", "x", { cause: undefined })).toBe(false);
  });

  it("are recognised across copies of the package, and nothing else is", async () => {
    vi.resetModules();
    const copy = await import("../src/errors.ts");
    const copiedProtocol = await import("../src/protocol-error.ts");
    expect(copy.HarnessError).not.toBe(HarnessError);
    const foreign = new copy.FrameTooLargeError(1);
    expect(foreign).not.toBeInstanceOf(HarnessError);
    expect(HarnessError.isInstance(foreign)).toBe(true);
    expect(copy.HarnessError.isInstance(new TransportError("x"))).toBe(true);
    const wire = new copiedProtocol.ProtocolError(-5, "x");
    expect(ProtocolError.isInstance(wire)).toBe(true);
    expect(toProtocolError(wire)).toBe(wire);
    for (const other of [null, undefined, "x", 1, {}, new Error("x"), { code: "frame_too_large" }]) {
      expect(HarnessError.isInstance(other)).toBe(false);
      expect(ProtocolError.isInstance(other)).toBe(false);
    }
    expect(ProtocolError.isInstance(new TransportError("x"))).toBe(false);
  });

  it("are recognised by their class and its bases, not by its siblings", () => {
    class Failed extends HarnessError {}
    class FailedTwice extends Failed {}
    class Timeout extends RequestTimeoutError {
      static override readonly brand = "RequestTimeoutError";
    }
    const [failed, twice, late] = [new Failed("a", "x"), new FailedTwice("a", "x"), new Timeout("m", 1)];
    const recognisedBy = (error: unknown) =>
      [HarnessError, Failed, FailedTwice, RequestTimeoutError, TransportError].map((type) =>
        type.isInstance(error),
      );
    expect(recognisedBy(failed)).toEqual([true, true, false, false, false]);
    expect(recognisedBy(twice)).toEqual([true, true, true, false, false]);
    expect(recognisedBy(late)).toEqual([true, false, false, true, false]);
    expect(recognisedBy(new HarnessError("a", "x"))).toEqual([true, false, false, false, false]);
  });

  it("narrow to their class, and leave the base where they are of another", () => {
    const error: HarnessError = new BufferFullError("limit", 7);
    if (TransportError.isInstance(error)) expectTypeOf(error.code).toEqualTypeOf<"transport_failed">();
    else if (BufferFullError.isInstance(error)) expect(error.limit).toBe(7);
    else expectTypeOf(error).toEqualTypeOf<HarnessError>();
    expect.assertions(1);
  });
});

describe("ProtocolError", () => {
  it.each([
    [-32700, "parse_error"],
    [-32600, "invalid_request"],
    [-32601, "method_not_found"],
    [-32602, "invalid_params"],
    [-32603, "internal_error"],
    [-32000, "protocol_error"],
    [0, "protocol_error"],
  ])("%i has the code %s unless told otherwise", (rpcCode, code) => {
    expect(new ProtocolError(rpcCode, "x").code).toBe(code);
    expect(new ProtocolError(rpcCode, "x", { code: "own" }).code).toBe("own");
  });

  it("crosses the wire as code, message and data, and with nothing else", () => {
    const error = new ProtocolError(-1, "no", {
      data: { a: [null] },
      cause: new TypeError("secret"),
      code: "own",
    });
    expect(error.toErrorObject()).toStrictEqual({ code: -1, message: "no", data: { a: [null] } });
    expect(new ProtocolError(-1, "no").toErrorObject()).toStrictEqual({ code: -1, message: "no" });
    expect(new ProtocolError(-1, "no", { data: null }).toErrorObject()).toStrictEqual({
      code: -1,
      message: "no",
      data: null,
    });
  });

  it("of a method or its parameters", () => {
    expect(methodNotFound("x").toErrorObject()).toStrictEqual({
      code: -32601,
      message: "Method not found: x",
    });
    expect(invalidParams("why").toErrorObject()).toStrictEqual({ code: -32602, message: "why" });
    expect(invalidParams("why", [1]).toErrorObject()).toStrictEqual({
      code: -32602,
      message: "why",
      data: [1],
    });
  });
});

describe("toProtocolError", () => {
  it.each([new TypeError("secret at /home/user"), new TransportError("secret"), "secret", null, undefined])(
    "hides %s and keeps it as the cause",
    (thrown) => {
      const error = toProtocolError(thrown);
      expect(error.toErrorObject()).toStrictEqual({ code: -32603, message: "Internal error" });
      expect(error.cause).toBe(thrown);
    },
  );
});
