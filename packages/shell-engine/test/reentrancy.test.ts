import { describe, expect, it } from "vitest";
import { createShellEngine, type ShellEngine, type ShellReply } from "../src/index.ts";
import { codeOf, messagesOf, request, say } from "./support.ts";

const named = (request_id: string) => request({ user_intent: "hi", session_id: "s" }, { request_id });

describe("a handler that asks its own engine", () => {
  it.each([
    ["at once", (reply: ShellReply): ShellReply | Promise<ShellReply> => reply],
    ["later", async (reply: ShellReply) => reply],
  ])("for the same request, and answers %s, is asked once, and is remembered once", async (_when, answer) => {
    let runs = 0;
    const inner: ReturnType<ShellEngine["handle"]>[] = [];
    const engine: ShellEngine = createShellEngine({
      limits: { maxRememberedRequests: 3 },
      handlers: {
        intent: () => {
          runs++;
          if (runs < 4) inner.push(engine.handle(named("r"), {}));
          return answer({ directives: [say(`run ${runs}`)] });
        },
      },
    });
    expect(messagesOf(await engine.handle(named("r"), {}))).toEqual(["run 1"]);
    for (const response of await Promise.all(inner)) expect(messagesOf(response)).toEqual(["run 1"]);
    expect(runs).toBe(1);
    expect(engine.stats()).toEqual({ inFlight: 0, rememberedRequests: 1 });
    for (const id of ["a", "b", "c", "d"]) await engine.handle(named(id), {});
    expect(engine.stats().rememberedRequests).toBe(3);
  });

  it("for one request after the other does not exhaust the stack, and leaves nothing running", async () => {
    const asked = 5000;
    let runs = 0;
    const inner: ReturnType<ShellEngine["handle"]>[] = [];
    const engine: ShellEngine = createShellEngine({
      handlers: {
        intent: () => {
          runs++;
          if (runs < asked) inner.push(engine.handle(named(`r${runs}`), {}));
          return [say("yes")];
        },
      },
    });
    expect(messagesOf(await engine.handle(named("r"), {}))).toEqual(["yes"]);
    for (let index = 0; index < inner.length; index++)
      expect(messagesOf((await inner[index]) as never)).toEqual(["yes"]);
    expect(runs).toBe(asked);
    expect(engine.stats()).toEqual({ inFlight: 0, rememberedRequests: asked });
  });
});

describe("a handler that closes its own engine", () => {
  it.each([
    ["at once", () => [say("done")]],
    ["later", async () => [say("done")]],
    [
      "with a failure",
      () => {
        throw new RangeError("no");
      },
    ],
  ])("and answers %s is answered for as every other one: cancelled", async (_when, answer) => {
    const engine: ShellEngine = createShellEngine({
      handlers: {
        intent: () => {
          void engine.close();
          return answer();
        },
      },
    });
    expect(codeOf(await engine.handle(named("r"), {}))).toBe("cancelled");
    expect(codeOf(await engine.handle(named("r"), {}))).toBe("cancelled");
    await expect.poll(() => engine.stats().inFlight).toBe(0);
  });
});
