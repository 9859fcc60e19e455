import { defineOptions, InvalidArgumentError } from "@harnesskit/wire";
import { describe, expect, it } from "vitest";

interface Options {
  readonly transport: string;
  readonly requestTimeoutMs?: number | undefined;
  readonly onError?: () => void;
  readonly sync?: "all" | "none" | undefined;
}
const check = defineOptions<Options>("createThing", {
  transport: true,
  requestTimeoutMs: false,
  onError: false,
  sync: { all: true, none: true },
});
const refusal = (options: unknown): InvalidArgumentError => {
  try {
    check(options as Options);
  } catch (error) {
    if (error instanceof InvalidArgumentError) return error;
  }
  throw new TypeError("not refused");
};

describe("the options of a constructor", () => {
  it("returns what it got", () => {
    const options = { transport: "memory", requestTimeoutMs: undefined };
    expect(check(options)).toBe(options);
  });

  it("lists the options where one is unknown", () => {
    const error = refusal({ transport: "memory", retries: 3 });
    expect(error.code).toBe("invalid_argument");
    expect(error.message).toBe(
      'createThing: "retries" is not an option; the options are transport, requestTimeoutMs, onError, sync',
    );
  });

  it("names a value that is not one of the strings that an option may be", () => {
    expect(check({ transport: "memory", sync: "all" })).toEqual({ transport: "memory", sync: "all" });
    expect(check({ transport: "memory", sync: undefined })).toBeDefined();
    const error = refusal({ transport: "memory", sync: "some" });
    expect(error.code).toBe("invalid_argument");
    expect(error.message).toBe('createThing: sync must be "all" or "none", got "some"');
    expect(refusal({ transport: "memory", sync: 1 }).message).toContain("got a value of type number");
    expect(refusal({ transport: "memory", sync: "toString" }).code).toBe("invalid_argument");
  });

  it("names a missing option", () => {
    expect(refusal({}).message).toBe('createThing needs the option "transport"');
    expect(refusal({ transport: undefined }).code).toBe("invalid_argument");
  });

  it("refuses what is not an object", () => {
    expect(refusal(undefined).message).toBe(
      "createThing takes an object of options, got a value of type undefined",
    );
    expect(refusal("memory").code).toBe("invalid_argument");
  });
});
