import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { createPeer } from "@harnesskit/wire/rpc";
import { afterAll, describe, expect, it } from "vitest";
import { sourceBundle } from "../../../test-kit/source-bundle.ts";
import { temporaryDirectory } from "../../../test-kit/test-kit.ts";
import { fixture, isAlive, startFixture, untilGone } from "./support.ts";

const bundle = await sourceBundle(new URL("./bundle-entry.ts", import.meta.url));
const directory = await temporaryDirectory();
afterAll(() => directory[Symbol.asyncDispose]());

const run = promisify(execFile);
const serve = (options = {}) => startFixture("serve", [bundle], options);
const echo = (id: number) => `${JSON.stringify({ jsonrpc: "2.0", id, method: "echo", params: [id] })}\n`;
const answer = (id: number) => ({ jsonrpc: "2.0", id, result: [id] });
const lines = (output: string): unknown[] =>
  output
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);

describe("a server process and its parent", () => {
  it("answers 64 requests at once, and is gone after the close", async () => {
    const peer = createPeer(await serve());
    const answers = await Promise.all(
      Array.from({ length: 64 }, (_, index) => peer.request("echo", [index, "é🚀\n"])),
    );
    expect(answers).toEqual(Array.from({ length: 64 }, (_, index) => [index, "é🚀\n"]));
    expect(await peer.request("pid")).toBe(peer.context.pid);
    await peer.close();
    expect(isAlive(peer.context.pid)).toBe(false);
    expect(await peer.context.exit).toEqual({ code: 0, signal: null, stderrTail: "closed in good order" });
  });

  it("has only the environment that it was given", async () => {
    const peer = createPeer(await serve({ env: { GIVEN: "yes" } }));
    const env = (await peer.request("env")) as Record<string, string>;
    await peer.close();
    expect(env.GIVEN).toBe("yes");
    expect(env.PATH).toBe(process.env.PATH);
    // Set by vitest in this process.
    expect(process.env.VITEST).toBe("true");
    expect(env.VITEST).toBeUndefined();
  });

  it("keeps stray writes out of the protocol, and says so once", async () => {
    const channel = await serve();
    const peer = createPeer(channel);
    await peer.request("stray");
    await peer.request("stray");
    await peer.close();
    const { stderrTail } = await channel.context.exit;
    const [first, ...rest] = stderrTail.split("\n");
    expect(first).toBe(
      "standard output carries a protocol: what else is written there goes to standard error",
    );
    expect(rest).toEqual([
      "first stray line",
      "second stray line",
      "first stray line",
      "second stray line",
      "closed in good order",
    ]);
  });

  it("settles what is pending when the child is killed in mid-request", async () => {
    const peer = createPeer(await serve());
    await peer.request("echo");
    const pending = peer.request("hang");
    await peer.request("echo");
    process.kill(peer.context.pid, "SIGKILL");
    const error = await pending.catch((cause: unknown) => cause);
    expect(error).toMatchObject({
      name: "ConnectionClosedError",
      code: "connection_closed",
      cause: { name: "ChildExitError", code: "child_exited", exitCode: null, signal: "SIGKILL" },
    });
    expect((await peer.closed).error).toBe((error as Error).cause);
    await untilGone(peer.context.pid);
  });

  it("has one channel on its standard streams at a time", async () => {
    const { stdout } = await run(process.execPath, [fixture("second-channel"), bundle]);
    expect(JSON.parse(stdout)).toEqual({ codes: ["invalid_argument"], restored: true });
  });
});

describe("every kind of standard stream", () => {
  const shell = (line: string) =>
    run("/bin/sh", ["-c", line, "sh", process.execPath, fixture("serve"), bundle, directory.path]);

  it("reads a file and writes a file", async () => {
    await writeFile(join(directory.path, "requests"), echo(1) + echo(2).trimEnd());
    await shell('"$1" "$2" "$3" <"$4/requests" >"$4/answers"');
    expect(lines(await readFile(join(directory.path, "answers"), "utf8"))).toEqual([answer(1), answer(2)]);
  });

  it("appends to a file that others append to", async () => {
    const path = join(directory.path, "appended");
    await writeFile(path, '"before"\n');
    await shell('cat "$4/requests" | "$1" "$2" "$3" >>"$4/appended"; echo \'"after"\' >>"$4/appended"');
    expect(lines(await readFile(path, "utf8"))).toEqual(["before", answer(1), answer(2), "after"]);
  });

  it("reads and writes a terminal", async () => {
    const command = `${process.execPath} ${fixture("serve")} ${bundle}`;
    const args =
      process.platform === "linux"
        ? ["-qec", command, "/dev/null"]
        : ["-q", "/dev/null", "sh", "-c", command];
    const terminal = spawn("script", args, { stdio: ["pipe", "pipe", "inherit"] });
    let shown = "";
    terminal.stdout.on("data", (chunk: Buffer) => {
      shown += chunk.toString();
    });
    const exited = once(terminal, "exit");
    terminal.stdin.write(echo(1));
    await expect.poll(() => shown, { timeout: 10_000, interval: 10 }).toContain(JSON.stringify(answer(1)));
    terminal.stdin.end("\u0004");
    expect(await exited).toEqual([0, null]);
    expect(shown).toContain("closed in good order");
  });

  it.each(["</dev/null", "<&-"])("ends by itself without input (%s)", async (redirection) => {
    const { stdout, stderr } = await shell(`"$1" "$2" "$3" ${redirection}`);
    expect(stdout).toBe("");
    expect(stderr).toBe("closed in good order\n");
  });

  it.each([">/dev/null", ">&-"])("ends by itself without output (%s)", async (redirection) => {
    const { stderr } = await shell(`"$1" "$2" "$3" <"$4/requests" ${redirection}`);
    expect(stderr).toBe("closed in good order\n");
  });
});

describe("a reader of standard output", () => {
  const flood = { jsonrpc: "2.0", id: 1, method: "flood", params: { count: 10, bytes: 1024 * 1024 } };

  const startFlood = () => {
    const child = spawn(process.execPath, [fixture("serve"), bundle], { stdio: "pipe" });
    child.stdin.end(`${JSON.stringify(flood)}\n`);
    return child;
  };

  it("gets all 10 MiB although it begins to read long after the end of input", async () => {
    const child = startFlood();
    const [turned] = (await once(child.stderr, "data")) as [Buffer];
    expect(Number(/turned in (\d+) ms/.exec(turned.toString())?.[1])).toBeLessThan(1000);
    expect(child.exitCode).toBeNull();
    const exited = once(child, "exit");
    const messages = lines(await text(child.stdout)) as { params?: { index: number; fill: string } }[];
    expect(await exited).toEqual([0, null]);
    expect(messages.slice(0, 10).map(({ params }) => [params?.index, params?.fill.length])).toEqual(
      Array.from({ length: 10 }, (_, index) => [index, 1024 * 1024]),
    );
    expect(messages[10]).toEqual({ jsonrpc: "2.0", id: 1, result: null });
    expect(messages).toHaveLength(11);
  });

  it("that goes away closes the channel with transport_failed, and the process ends", async () => {
    const child = startFlood();
    const stderr = text(child.stderr);
    await once(child.stdout, "readable");
    child.stdout.destroy();
    expect(await once(child, "exit")).toEqual([0, null]);
    expect(await stderr).toMatch(/^closed transport_failed$/m);
  });
});

describe("a parent that is gone", () => {
  const startParent = async (...args: string[]): Promise<{ parent: ChildProcess; pid: number }> => {
    const parent = spawn(process.execPath, [fixture("parent"), bundle, ...args], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    const [line] = (await once(parent.stdout as NodeJS.ReadableStream, "data")) as [Buffer];
    return { parent, pid: Number(line.toString()) };
  };

  it("killed, takes a child with it that does not mind the end of its input", async () => {
    const reason = join(directory.path, "reason");
    const { parent, pid } = await startParent("orphan", "stay", bundle, reason);
    expect(isAlive(pid)).toBe(true);
    parent.kill("SIGKILL");
    await once(parent, "exit");
    await untilGone(pid);
    expect(await readFile(reason, "utf8")).toBe("parent_gone");
  });

  it("ended normally, kills a child that would outlive it", async () => {
    const { parent, pid } = await startParent("stubborn", "exit");
    expect(isAlive(pid)).toBe(true);
    parent.stdin?.end();
    expect(await once(parent, "exit")).toEqual([0, null]);
    await untilGone(pid);
  });
});
