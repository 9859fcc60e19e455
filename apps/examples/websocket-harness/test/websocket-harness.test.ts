import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { createAhpClient } from "@harnesskit/ahp-client";
import { createWebSocketTransport } from "@harnesskit/transport-http/node";
import { expect, it, onTestFinished } from "vitest";

const program = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url));

/** The harness as a user starts it. */
const start = async () => {
  const directory = await mkdtemp(join(tmpdir(), "harness-websocket-"));
  const tokenFile = join(directory, "token");
  const child = spawn(process.execPath, [program("harness.mjs"), tokenFile]);
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await rm(directory, { recursive: true, force: true });
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const nextLine = async () => (await lines.next()).value as string;
  const url = /^listening on (ws:\S+), token in /.exec(await nextLine())?.[1] ?? expect.fail("no line");
  return { child, url, tokenFile, nextLine };
};

it("is asked by the agent, blocks what its policy blocks, and is notified of what ran", async () => {
  const { child, url, tokenFile, nextLine } = await start();
  const agent = spawn(process.execPath, [program("agent.mjs"), url, tokenFile, "ls", "rm"]);
  const [stdout, stderr, [code]] = await Promise.all([
    text(agent.stdout),
    text(agent.stderr),
    once(agent, "exit"),
  ]);
  expect({ stderr, code }).toEqual({ stderr: "", code: 0 });
  expect(stdout.trim().split("\n")).toEqual([
    "harness websocket-harness",
    "ls: allow",
    "rm: block (destructive command requires approval)",
    "background work: allow",
  ]);
  expect(await nextLine()).toBe('agent-1 ran "ls"');
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  expect(await ended).toEqual([0, null]);
  await expect(stat(tokenFile)).rejects.toMatchObject({ code: "ENOENT" });
});

it("takes the token and the API key from a header and from the query, and refuses a client without either", async () => {
  const { url, tokenFile } = await start();
  const token = (await readFile(tokenFile, "utf8")).trim();
  const about = { framework: "test", version: "1.0.0", reconnect: false } as const;
  for (const credentials of [{ bearer: token }, { apiKey: token }]) {
    for (const credentialsIn of ["header", "query"] as const) {
      const transport = createWebSocketTransport({ url, credentials, credentialsIn });
      const client = createAhpClient({ ...about, transport });
      onTestFinished(() => client.close());
      expect((await client.connect()).harness_info.name).toBe("websocket-harness");
    }
  }
  const stranger = createAhpClient({ ...about, transport: createWebSocketTransport({ url }) });
  onTestFinished(() => stranger.close());
  await expect(stranger.connect()).rejects.toMatchObject({ name: "AhpFailure", code: "unauthorized" });
});
