import { createHttpServer } from "@harnesskit/transport-http/node";
import { describe, expect, it, onTestFinished } from "vitest";
import { createGuard, createHookHandler } from "../src/index.ts";
import { codexInput, never, policyHarness } from "./support/hooks.ts";

const token = "t".repeat(40);

const serve = async () => {
  const guard = createGuard({ harness: await policyHarness(), version: "1.0.0" });
  const server = createHttpServer({
    token,
    fallback: createHookHandler(guard, "claude-code", { timeoutMs: 60_000 }),
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
    const garbled = await post("{");
    expect([garbled.status, await garbled.text()]).toEqual([
      400,
      expect.stringContaining("not readable JSON"),
    ]);
    expect((await post('{"hook_event_name":"PreToolUse"}')).status).toBe(400);
    expect((await post("x".repeat(9 * 1024 * 1024))).status).toBe(413);
    expect((await post(codexInput("ls"), "wrong")).status).toBe(401);
  });

  it("use the directory in which the session started, which a command hook has reported", async () => {
    const guard = createGuard({ harness: await policyHarness(), version: "1.0.0" });
    const read = codexInput("", {
      tool_name: "Read",
      tool_input: { file_path: "README.md" },
    });
    const ask = async () => {
      const handler = createHookHandler(guard, "claude-code");
      return (await handler(new Request("http://x/", { method: "POST", body: read }))).json();
    };
    expect(await ask()).toMatchObject({ hookSpecificOutput: { permissionDecision: "deny" } });
    const started = codexInput("", { hook_event_name: "SessionStart" });
    await guard.answer({ host: "claude-code", input: started, cwd: "/work/app" }, never);
    expect(await ask()).toEqual({});
    const handler = createHookHandler(guard, "claude-code");
    expect((await handler(new Request("http://x/"))).status).toBe(405);
  });

  it("are made for hosts that are known", async () => {
    const guard = createGuard({ harness: await policyHarness(), version: "1.0.0" });
    expect(() => createHookHandler(guard, "emacs")).toThrow(
      expect.objectContaining({ code: "unknown_host" }),
    );
  });
});
