import { describe, expect, it } from "vitest";
import { createThreadServer, type ThreadServerOptions } from "../src/index.ts";

describe("createThreadServer", () => {
  it.each(["gate", "promptGate"])("refuses a %s that cannot judge", (name) => {
    const options = { runner: { run: async () => {} }, [name]: { decide: () => "allow" } };
    expect(() => createThreadServer(options as unknown as ThreadServerOptions)).toThrow(
      expect.objectContaining({
        code: "invalid_argument",
        message: expect.stringContaining(`: ${name} must`),
      }),
    );
  });
});
