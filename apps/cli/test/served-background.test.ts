import { join } from "node:path";
import { expect, it } from "vitest";
import { callingProvider } from "./support/calling-provider.ts";
import { makeWorkspace, nothingRunsWith, startHarness } from "./support/harness.ts";
import { ProtocolClient } from "./support/protocol-client.ts";

const serve = (cwd: string, model: string) =>
  new ProtocolClient(
    startHarness(["serve", "--no-policy", "--model", model], {
      cwd,
      env: { HOME: cwd, XDG_STATE_HOME: join(cwd, "state") },
    }),
  );

it.each(["SIGTERM", "SIGKILL"] as const)(
  "a command in the background ends with a harness serve that gets %s; the next turn of the thread is told once",
  async (signal) => {
    const cwd = await makeWorkspace();
    const command = `sleep 7${String(process.pid).slice(-4)}${signal.length}`;
    const { model } = await callingProvider("bash", { command, background: true });
    const first = serve(cwd, model);
    const threadId = await first.createThread();
    await first.startTurn(threadId, "serve it");
    const { params } = await first.notified("approval.requested");
    await first.call("approval.respond", { requestId: params?.requestId, decision: "once" });
    await first.notified("turn.completed");
    first.program.child.kill(signal);
    const end = await first.program.ended;
    expect(end).toMatchObject(signal === "SIGTERM" ? { code: 0, signal: null } : { code: null, signal });
    await nothingRunsWith(command);
    const { model: silent, seen } = await callingProvider("none");
    const next = serve(cwd, silent);
    for (const isTold of [true, false]) {
      await next.call("thread.subscribe", { threadId });
      await next.startTurn(threadId, "and now?");
      await next.several("turn.completed", isTold ? 1 : 2);
      expect(seen.said.includes(`(${command}): ended with its process, exit code unknown`)).toBe(isTold);
    }
  },
);
