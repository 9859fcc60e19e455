import { describe, expect, it, onTestFinished } from "vitest";
import { createThreadServer, type ThreadServerOptions } from "../src/index.ts";
import { RawClient } from "./support/raw-client.ts";

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

describe("onError", () => {
  it.each(["at once", "later"])(
    "may fail %s: the turn ends as it would, and nothing else does",
    async (when) => {
      const strays: unknown[] = [];
      const note = (reason: unknown) => strays.push(reason);
      process.on("unhandledRejection", note);
      onTestFinished(() => void process.off("unhandledRejection", note));
      const told: unknown[] = [];
      const failure = new TypeError("the agent is broken");
      const server = createThreadServer({
        runner: { run: () => Promise.reject(failure) },
        onError: (error) => {
          told.push(error);
          const cause = new TypeError("the log service is down");
          if (when === "later") return Promise.reject(cause);
          throw cause;
        },
      });
      onTestFinished(() => server.close());
      const client = RawClient.connect(server);
      const threadId = await client.createThread();
      for (let turn = 1; turn <= 2; turn++) {
        const { result } = await client.startTurn(threadId);
        expect((await client.turnEnd(result.turnId)).params).toMatchObject({ code: "agent_failed" });
        expect(told).toHaveLength(turn);
      }
      await new Promise(setImmediate);
      expect(strays).toEqual([]);
    },
  );
});
