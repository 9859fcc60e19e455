import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createUnixListener } from "@harnesskit/transport-uds";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { buildSourceBundle } from "../../../../scripts/lib/source-bundle.ts";
import { event, handshake, notification, request } from "../support/messages.ts";
import { startServer } from "../support/server.ts";

const payload = "é👋 \u2028 \r\n";

/** What an agent says, as lines: a handshake, a notification, a gate. */
const spoken = [
  request("h", "ahp/handshake", handshake()),
  notification("ahp/event", event("post_action")),
  request("q1", "ahp/event", event("pre_action", { payload })),
]
  .map((message) => `${JSON.stringify(message)}\n`)
  .join("");

/** The answers in what came: each a line that ends with a line feed, and nothing else. */
const expectAnswers = (raw: string) => {
  expect(raw.startsWith("{")).toBe(true);
  expect(raw.endsWith("\n")).toBe(true);
  const lines = raw.slice(0, -1).split("\n");
  expect(lines).toHaveLength(2);
  for (const line of lines) expect(line).not.toContain("\r");
  expect(JSON.parse(lines[0] as string)).toMatchObject({
    jsonrpc: "2.0",
    id: "h",
    result: { protocol_version: "2.4" },
  });
  expect(JSON.parse(lines[1] as string)).toEqual({
    jsonrpc: "2.0",
    id: "q1",
    result: { decision: "allow", modified_payload: payload },
  });
};

const countOf = (raw: string) => raw.split("\n").length - 1;

describe("over stdio", () => {
  let bundle: Awaited<ReturnType<typeof buildSourceBundle>>;
  beforeAll(async () => {
    bundle = await buildSourceBundle(new URL("../bundle-entry.ts", import.meta.url));
  });
  afterAll(() => bundle.remove());

  it("a message is a line, and nothing but messages goes to stdout, whatever handlers write", async () => {
    const script = fileURLToPath(new URL("../fixtures/stdio-harness.mjs", import.meta.url));
    const child: ChildProcessWithoutNullStreams = spawn(process.execPath, [script, bundle.path]);
    onTestFinished(() => void child.kill("SIGKILL"));
    let out = "";
    let log = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      out += chunk;
    });
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      log += chunk;
    });
    child.stdin.write(spoken);
    await expect.poll(() => countOf(out), { timeout: 10_000 }).toBe(2);
    const closed = once(child, "close");
    child.stdin.end();
    expect(await closed).toEqual([0, null]);
    expectAnswers(out);
    for (const text of [
      "a handler logs to the console",
      "a handler writes to stdout",
      "a handler logs to stderr",
    ]) {
      expect(log).toContain(text);
    }
  });
});

describe("over a Unix socket", () => {
  it("a message is a line, without a length before it", async () => {
    const directory = await mkdtemp(join(tmpdir(), "ahp-"));
    const path = join(directory, "s");
    const { server } = startServer({
      pre_action: (given) => ({ decision: "allow", modified_payload: given.payload }),
    });
    const listener = createUnixListener({ path, framing: "newline" });
    await listener.listen((channel) => server.connect(channel));
    const socket = connect(path);
    onTestFinished(async () => {
      socket.destroy();
      await server.close();
      await listener.close();
      await rm(directory, { recursive: true, force: true });
    });
    let raw = "";
    socket.setEncoding("utf8").on("data", (chunk: string) => {
      raw += chunk;
    });
    // Byte by byte up to the first line end: a line ends where it ends, and not where a write does.
    const first = spoken.indexOf("\n") + 1;
    for (const character of spoken.slice(0, first)) socket.write(character);
    socket.write(spoken.slice(first));
    await expect.poll(() => countOf(raw), { timeout: 10_000 }).toBe(2);
    expectAnswers(raw);
  });
});
