import { createHttpServer } from "@harnesskit/transport-http/node";
import { describe, expect, it, onTestFinished } from "vitest";
import { createGuard, createHookRoute } from "../src/index.ts";
import { codexInput, policyHarness } from "./support/hooks.ts";

const token = "t".repeat(40);

const serve = async () => {
  const guard = createGuard({ harness: await policyHarness(), version: "1.0.0" });
  const server = createHttpServer({
    token,
    routes: { "/hooks/claude-code": createHookRoute(guard, "claude-code", { timeoutMs: 60_000 }) },
  });
  await server.listen();
  onTestFinished(() => server.close());
  return (body: string, bearer = token) =>
    fetch(`${server.url}/hooks/claude-code`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${bearer}` },
      body,
    });
};

describe("HTTP hooks", () => {
  it("are answered with the host's decision, and with an empty object for none", async () => {
    const post = await serve();
    const refused = await post(codexInput("rm -rf /"));
    expect(refused.status).toBe(200);
    expect(await refused.json()).toMatchObject({
      hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "deny" },
    });
    const started = await post(codexInput("", { hook_event_name: "SessionStart" }));
    expect([started.status, await started.json()]).toEqual([200, {}]);
  });

  it("that cannot be read or come without the token get a status by which the host refuses", async () => {
    const post = await serve();
    expect((await post("{")).status).toBe(400);
    expect((await post('{"hook_event_name":"PreToolUse"}')).status).toBe(500);
    expect((await post(codexInput("ls"), "wrong")).status).toBe(401);
  });

  it("are made for hosts that are known", async () => {
    const guard = createGuard({ harness: await policyHarness(), version: "1.0.0" });
    expect(() => createHookRoute(guard, "emacs")).toThrow(expect.objectContaining({ code: "unknown_host" }));
  });
});
