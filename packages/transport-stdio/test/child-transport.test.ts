import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createDeferred, RequestCancelledError, TransportError } from "@harnesskit/wire";
import { describe, expect, it, vi } from "vitest";
import { record, temporaryDirectory } from "../../../test-kit/test-kit.ts";
import { ChildExitError, type ChildTransportOptions, createChildTransport } from "../src/index.ts";
import { isAlive, startFixture, untilGone } from "./support.ts";

describe("a program that cannot be started", () => {
  const refusal = async (options: Partial<ChildTransportOptions> & { command: string }): Promise<string> => {
    const transport = createChildTransport({ ...options, env: { TOKEN: "secret" } });
    const error = await transport.connect().catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(TransportError);
    expect(error).toMatchObject({ code: "transport_failed" });
    expect(JSON.stringify(error)).not.toContain("secret");
    return (error as TransportError).message;
  };

  it("is named, with what to do", async () => {
    await using directory = await temporaryDirectory();
    expect(await refusal({ command: "no-such-command-here" })).toBe(
      'the command "no-such-command-here" was not found: install it, put it on the PATH or pass its full path',
    );
    const plain = join(directory.path, "plain.txt");
    await writeFile(plain, "no program", { mode: 0o644 });
    expect(await refusal({ command: plain })).toBe(
      `the command "${plain}" may not be run: make the file executable or pass another command`,
    );
    for (const cwd of [join(directory.path, "missing"), plain]) {
      expect(await refusal({ command: process.execPath, cwd })).toBe(
        `the working directory "${cwd}" cannot be used: create it or pass another cwd`,
      );
    }
    expect(await refusal({ command: process.execPath, args: ["x".repeat(8 * 1024 * 1024)] })).toContain(
      "could not be started (E2BIG)",
    );
    expect(await refusal({ command: "a\u0000b" })).toContain("could not be started");
    expect(await refusal({ command: "" })).toContain("could not be started");
  });
});

describe("connecting", () => {
  it("is given up by its signal, and leaves no process", async () => {
    const transport = createChildTransport({ command: process.execPath, args: ["-e", ""], stderr: "ignore" });
    const early = transport.connect({ signal: AbortSignal.abort() });
    await expect(early).rejects.toMatchObject({ code: "request_cancelled", name: "RequestCancelledError" });

    const listeners = process.listenerCount("exit");
    const controller = new AbortController();
    const late = transport.connect({ signal: controller.signal });
    controller.abort(new RequestCancelledError("test"));
    await expect(late).rejects.toMatchObject({ code: "request_cancelled" });
    expect(process.listenerCount("exit")).toBe(listeners);
  });
});

describe("closing", () => {
  it("ends the input, and a child that ends then is closed in good order", async () => {
    const channel = await startFixture("garbage");
    const log = record(channel);
    await log.untilMessages(2);
    const { pid } = channel.context;
    await channel.close();
    expect(isAlive(pid)).toBe(false);
    expect(log.closed).toEqual({});
    expect(await channel.context.exit).toEqual({ code: 0, signal: null, stderrTail: "" });
  });

  it("goes on to SIGTERM and SIGKILL for a child that ignores both", async () => {
    const heard = createDeferred<string>();
    const channel = await startFixture("stubborn", [], {
      closeTimeoutMs: 50,
      killTimeoutMs: 300,
      stderr: (line) => {
        heard.resolve(line);
        return Promise.reject(new TypeError("the log service is down"));
      },
    });
    const log = record(channel);
    await log.untilMessages(1);
    await channel.close();
    expect(await heard.promise).toBe("SIGTERM ignored");
    expect(isAlive(channel.context.pid)).toBe(false);
    expect(await channel.context.exit).toEqual({
      code: null,
      signal: "SIGKILL",
      stderrTail: "SIGTERM ignored",
    });
    expect(log.closed).toEqual({});
  });

  it("reaches a grandchild that holds the pipes and ignores SIGTERM", async () => {
    const channel = await startFixture("grandchild", [], { closeTimeoutMs: 50, killTimeoutMs: 100 });
    const log = record(channel);
    await log.untilMessages(1);
    const [{ pid }] = log.messages as [{ pid: number }];
    expect(isAlive(pid)).toBe(true);
    await channel.close();
    expect(isAlive(channel.context.pid)).toBe(false);
    await untilGone(pid);
  });
});

describe("a child that ends by itself", () => {
  it("has its output delivered first, and says how it ended", async () => {
    const channel = await startFixture("dying");
    const log = record(channel, { onEnd: () => {} });
    await channel.closed;
    expect(log.messages).toEqual([{ n: 1 }, { n: 2 }]);
    expect(log.events).toEqual(["message", "message", "close"]);
    const error = log.closed?.error;
    expect(error).toBeInstanceOf(ChildExitError);
    expect(error).toMatchObject({ code: "child_exited", exitCode: 3, signal: null });
    expect((error as ChildExitError).stderrTail).toBe(
      "reading the file\nfailed: ⟨U+001B⟩[31mno such file⟨U+202E⟩",
    );
    await expect(channel.send(1)).rejects.toMatchObject({ code: "connection_closed" });
  });

  it("is heard although it ended before its channel was started", async () => {
    const channel = await startFixture("dying");
    await channel.context.exit;
    const log = record(channel);
    await channel.closed;
    expect(log.events).toEqual(["message", "message", "close"]);
  });

  it("says how it ended to a message that it did not read", async () => {
    const script = 'exec 0<&-; echo "[]"; sleep 0.1; exit 3';
    const transport = createChildTransport({ command: "sh", args: ["-c", script] });
    const channel = await transport.connect();
    await new Promise<void>((resolve) => {
      channel.start({ message: () => resolve(), error: () => {}, close: () => {} });
    });
    await expect(channel.send(1)).rejects.toMatchObject({
      code: "connection_closed",
      cause: { code: "child_exited", exitCode: 3 },
    });
  });

  it("closes its channel although a process outside of its group holds the pipes", async () => {
    const channel = await startFixture("grandchild", ["exit", "escape"], { closeTimeoutMs: 100 });
    const log = record(channel);
    await channel.closed;
    const [{ pid }] = log.messages as [{ pid: number }];
    expect(isAlive(pid)).toBe(true);
    process.kill(pid, "SIGKILL");
    await untilGone(pid);
    expect(log.closed).toEqual({});
  });
});

describe("a child that misbehaves", () => {
  it("may close its output early and live: that is an end, not a close", async () => {
    const channel = await startFixture("close-stdout");
    const ended = createDeferred<void>();
    const log = record(channel, { onEnd: ended.resolve });
    await ended.promise;
    expect(log.messages).toEqual([{ ready: true }]);
    expect(isAlive(channel.context.pid)).toBe(true);
    await channel.send("still read");
    await channel.close();
    expect(log.events).toEqual(["message", "end", "close"]);
    expect(isAlive(channel.context.pid)).toBe(false);
  });

  it("closes its input: the channel fails and the child is ended", async () => {
    const channel = await startFixture("close-stdin", [], { killTimeoutMs: 500 });
    const log = record(channel);
    await log.untilMessages(1);
    await expect(channel.send("unheard")).rejects.toMatchObject({
      code: "connection_closed",
      cause: { code: "transport_failed" },
    });
    await channel.closed;
    expect(log.closed?.error).toBeInstanceOf(TransportError);
    expect(log.closed?.error).toMatchObject({ code: "transport_failed" });
    expect(log.closed?.error?.message).toContain("closed its standard input");
    expect(isAlive(channel.context.pid)).toBe(false);
  });

  it("floods its standard error: that is read by lines, whatever the listener does, and its end is kept", async () => {
    let lines = 0;
    let last = "";
    const channel = await startFixture("flood-stderr", [], {
      stderr(line) {
        lines++;
        last = line;
        throw new TypeError("a listener's own fault");
      },
    });
    const log = record(channel);
    await log.untilMessages(1);
    await channel.close();
    const { stderrTail } = await channel.context.exit;
    expect(lines).toBe(8193);
    expect(last).toBe("the end");
    expect(stderrTail).toBe(`${`${"e".repeat(1023)}\n`.repeat(7)}the end`);
  });

  it("shares this process's standard error, unless told otherwise", async () => {
    const shown: string[] = [];
    const write = vi.spyOn(process.stderr, "write").mockImplementation((chunk) => {
      shown.push(String(chunk));
      return true;
    });
    try {
      const channel = await startFixture("dying", [], { stderr: "inherit" });
      await channel.context.exit;
      await channel.close();
    } finally {
      write.mockRestore();
    }
    expect(shown.join("")).toBe("reading the file\r\nfailed: \u001b[31mno such file\u202e\n");
  });

  it("speaks to a reader that is busy: it waits, and nothing is lost when it ends meanwhile", async () => {
    const channel = await startFixture("dying");
    const release = createDeferred<void>();
    const messages: unknown[] = [];
    channel.start({
      message(message) {
        messages.push(message);
        if (messages.length === 1) return release.promise;
      },
      error() {},
      close() {},
    });
    await channel.context.exit;
    release.resolve();
    const { error } = await channel.closed;
    expect(messages).toEqual([{ n: 1 }, { n: 2 }]);
    expect(error).toMatchObject({ code: "child_exited" });
  });

  it("leaves a process behind that floods a busy reader: it has to wait", async () => {
    await using directory = await temporaryDirectory();
    const file = join(directory.path, "taken");
    await writeFile(file, "0");
    const channel = await startFixture("flood-left", [file], { closeTimeoutMs: 500 });
    channel.start({ message: () => new Promise<void>(() => {}), error() {}, close() {} });
    await channel.closed;
    expect(Number(await readFile(file, "utf8"))).toBeLessThan(2 * 1024 * 1024);
  });
});
