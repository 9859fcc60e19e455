import { describe, expect, it } from "vitest";
import { strays } from "../../../scripts/lib/strays.ts";
import { event, request } from "./support/messages.ts";
import { startServer } from "./support/server.ts";

const broken = new TypeError("the log service is down");

describe("a callback that returns a promise", () => {
  it("may fail: the server's onError", async () => {
    const unhandled = strays();
    const told: unknown[] = [];
    const { shake, post } = startServer(
      {
        pre_action: () => {
          throw new Error("no");
        },
      },
      {
        onError: async (error) => {
          told.push(error);
          throw broken;
        },
      },
    );
    await shake();
    expect((await post(request(1, "ahp/event", event("pre_action"))))?.error?.code).toBe(-32603);
    expect(await unhandled()).toEqual([]);
    expect(told).toMatchObject([{ message: "no" }]);
  });
});
