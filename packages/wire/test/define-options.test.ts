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
  it("names a misspelt option and the nearest one", () => {
    const error = refusal({ transport: "memory", requestTimoeutMs: 5 });
    expect(error.code).toBe("invalid_argument");
    expect(error.message).toBe(
      'createThing: "requestTimoeutMs" is not an option; did you mean "requestTimeoutMs"?',
    );
    expect(refusal({ transport: "memory", onerror: () => {} }).message).toContain('did you mean "onError"?');
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
});
