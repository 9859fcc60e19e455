import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { client as acpClient, type ClientContext, methods, ndJsonStream } from "@agentclientprotocol/sdk";
import { onTestFinished } from "vitest";
import { binPath } from "./harness.ts";

export interface AcpEditor {
  readonly agent: ClientContext;
  readonly session: string;
  /** What the editor was asked and told, in order. */
  readonly asked: { readonly method: string; readonly params: any }[];
  readonly stderr: () => string;
  readonly ended: Promise<number | null>;
  prompt(text: string): Promise<{ readonly stopReason: string }>;
  leave(): void;
}

/** An editor of the official SDK, which starts `harness guard acp -- COMMAND` as its agent. It carries nothing out. */
export const openEditor = async (
  words: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Promise<AcpEditor> => {
  const child = spawn(process.execPath, [binPath, "guard", "acp", ...words], {
    cwd,
    env: { PATH: process.env.PATH ?? "", ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  onTestFinished(async () => {
    child.stdin.end();
    await ended;
  });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const asked: AcpEditor["asked"] = [];
  const app = acpClient({ name: "test" });
  const on = (method: string, result: unknown) =>
    app.onRequest(
      method as never,
      ((ctx: { params: any }) => {
        asked.push({ method, params: ctx.params });
        return result;
      }) as never,
    );
  on(methods.client.session.requestPermission, { outcome: { outcome: "cancelled" } });
  on(methods.client.fs.writeTextFile, {});
  on(methods.client.fs.readTextFile, { content: "" });
  on(methods.client.terminal.create, { terminalId: "t1" });
  on(methods.client.terminal.waitForExit, { exitCode: 0 });
  on(methods.client.terminal.release, {});
  app.onNotification(methods.client.session.update, ({ params }) => {
    asked.push({ method: methods.client.session.update, params });
  });
  const { agent } = app.connect(
    ndJsonStream(
      Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
      Readable.toWeb(child.stdout) as unknown as ReadableStream<Uint8Array>,
    ),
  );
  await agent.request(methods.agent.initialize, {
    protocolVersion: 1,
    clientCapabilities: { fs: { readTextFile: false, writeTextFile: true }, terminal: true },
  });
  const { sessionId: session } = await agent.request(methods.agent.session.new, { cwd, mcpServers: [] });
  return {
    agent,
    session,
    asked,
    stderr: () => stderr,
    ended,
    prompt: (text) =>
      agent.request(methods.agent.session.prompt, { sessionId: session, prompt: [{ type: "text", text }] }),
    leave: () => void child.stdin.end(),
  };
};
