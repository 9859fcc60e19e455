import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { isNightly } from "../../../test-kit/nightly.ts";
import { McpError, type McpServer, readMcpTools } from "../src/index.ts";
import type { McpAgentOptions } from "../src/mcp-agent.ts";
import { call, hostile, serve } from "./support/serve.ts";

const fixture = (name: string) => fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url));
const program = fixture("sdk-server.mjs");

const onStreams = (...args: string[]): McpServer => ({ command: [process.execPath, program, ...args] });

/** The lines that a server behind a URL says, after the URL. */
const startBehindUrl = async (...args: string[]) => {
  const child = spawn(process.execPath, [program, ...args, "http"], { stdio: ["pipe", "ignore", "pipe"] });
  const exited = once(child, "exit");
  const reader = createInterface({ input: child.stderr });
  const [url] = (await once(reader, "line")) as [string];
  const lines: string[] = [];
  reader.on("line", (line) => lines.push(line));
  // As where this process is killed: its end of the pipe is all that the server has of it.
  const stop = async () => {
    child.stdin.end();
    await exited;
  };
  return { server: { url }, lines, child, stop };
};

const behindUrl = async (...args: string[]) => {
  const started = await startBehindUrl(...args);
  onTestFinished(started.stop);
  return started;
};

const said = (value: string) => ({
  status: "succeeded",
  output: { content: [{ type: "text", text: value }] },
});
const failed = (code: string, message: unknown = expect.any(String)) => ({
  status: "failed",
  error: expect.objectContaining({ code, message }),
});

/** Long enough for a program of Node to start. */
const patient = { discoverTimeoutMs: 20_000 };

const newest = ["2025-11-25", "2026-07-28"];
/** Those that few servers speak any more: each night. */
const revisions = isNightly ? ["2024-11-05", "2025-03-26", "2025-06-18", ...newest] : newest;

it.each(revisions)(
  "a server of the official SDK that speaks %s: calls, changes of the tools, cancelling",
  async (revision) => {
    await using served = await serve({ server: onStreams(revision), ...patient });
    await usesAll(served, revision, () => served.output);
  },
);

// What differs behind a URL is how the newest revision is asked for, and all before it.
it.each(newest)(
  "a server behind a URL that speaks %s: calls, changes of the tools, cancelling",
  async (revision) => {
    const { server, lines } = await behindUrl(revision);
    await using served = await serve({ server });
    await usesAll(served, revision, () => lines);
  },
);

const usesAll = async (
  { core, tool, reports }: Awaited<ReturnType<typeof serve>>,
  revision: string,
  lines: () => readonly string[],
) => {
  expect(await call(core, "revision")).toMatchObject(said(revision));
  const running = core.call("mcp.test/hold", {});
  await vi.waitFor(() => expect(lines()).toContain("holding"));
  running.cancel("enough");
  expect(await running.result).toMatchObject({ status: "canceled" });
  await vi.waitFor(() => expect(lines()).toContain("cancelled"));
  expect(await call(core, "change")).toMatchObject(said("changed"));
  await vi.waitFor(() => expect(tool("later")).toBeDefined());
  expect(await call(core, "later")).toMatchObject(said("later"));
  expect(reports).toEqual([]);
};

describe("the question which revision a server speaks", () => {
  it.each([
    ["ignore", 1],
    ["refuse", 1],
    ["exit", 2],
  ])("is over soon where an old program does not know it, and does: %s", async (manner, starts) => {
    const command: [string, ...string[]] = [process.execPath, fixture("minimal-server.mjs"), manner];
    await using served = await serve({ server: { command }, connectTimeoutMs: 20_000 });
    expect(await call(served.core, "echo", { text: "hi" })).toMatchObject(said("hi"));
    expect(served.output.filter((line) => line === "started")).toHaveLength(starts);
    expect(served.reports).toEqual([]);
  });

  it("is not asked again of a program that is started again", async () => {
    const { command } = hostile("exit-on-discover");
    await using served = await serve({ server: { command } });
    expect(await call(served.core, "die")).toMatchObject(failed("agent.lost"));
    await vi.waitFor(() => expect(served.health.at(-1)).toBe("ok"));
    expect(await call(served.core, "ok")).toMatchObject({ status: "succeeded" });
    expect(served.output.filter((line) => line === "asked what it speaks")).toHaveLength(1);
  });

  it.each([["slow"], ["slow", "only"]])("may be answered late: %s %s", async (...how) => {
    await using served = await serve({ server: onStreams("2026-07-28", ...how), discoverTimeoutMs: 100 });
    expect(await call(served.core, "revision")).toMatchObject(said("2026-07-28"));
    expect(served.reports).toEqual([]);
  });

  it("says why neither answer can be used", async () => {
    const front = createServer((_, response) => response.writeHead(500).end("out of order")).listen(
      0,
      "127.0.0.1",
    );
    onTestFinished(() => void front.close());
    await once(front, "listening");
    const url = `http://127.0.0.1:${(front.address() as AddressInfo).port}/mcp`;
    const error = await serve({ server: { url } }).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(McpError);
    expect(error).toMatchObject({
      code: "mcp.server_unavailable",
      message: expect.stringContaining("out of order"),
    });
  });
});

describe("a server of 2026-07-28 behind a URL", () => {
  let started: Awaited<ReturnType<typeof startBehindUrl>>;
  beforeAll(async () => {
    started = await startBehindUrl("2026-07-28");
    return started.stop;
  });
  const start = async (options: Partial<McpAgentOptions> = {}) => {
    const { server, lines } = started;
    return { served: await serve({ server, ...options }), lines: () => lines };
  };

  it("has inputs repeated in headers where it wants that", async () => {
    const { served } = await start();
    await using _ = served;
    expect(await call(served.core, "region", { region: "Zürich" })).toMatchObject(said("Zürich"));
  });

  it("ends a call that needs input, and names it", async () => {
    const { served } = await start();
    await using _ = served;
    const outcome = await call(served.core, "ask");
    expect(outcome).toMatchObject(
      failed("mcp.input_required", expect.stringContaining("elicitation/create")),
    );
    expect(outcome).not.toHaveProperty("error.details.may_have_run");
  });

  it("has a task followed to its end", async () => {
    const { served, lines } = await start();
    await using _ = served;
    const running = served.core.call("mcp.test/task", {});
    const states: unknown[] = [];
    for await (const { data } of running.stream) states.push(data);
    expect(await running.result).toMatchObject(said("done"));
    expect(states).toEqual([{ text: "half" }]);
    expect(await call(served.core, "failed-task")).toMatchObject(
      failed("tool.invalid_input", "no such account"),
    );
    expect(await call(served.core, "asking-task")).toMatchObject(
      failed("mcp.input_required", expect.stringContaining("elicitation/create: Sure?")),
    );
    await vi.waitFor(() => expect(lines()).toContain("cancelled asking-task"));
  });

  it("has a task cancelled with its call, and when it stands still for too long", async () => {
    const { served, lines } = await start({ callTimeoutMs: 500 });
    await using _ = served;
    const running = served.core.call("mcp.test/stuck", {});
    for await (const { data } of running.stream) {
      expect(data).toEqual({ text: "half" });
      running.cancel("enough");
    }
    expect(await running.result).toMatchObject({ status: "canceled" });
    await vi.waitFor(() => expect(lines().filter((line) => line === "cancelled stuck")).toHaveLength(1));
    expect(await call(served.core, "stuck")).toMatchObject(
      failed("tool.timeout", expect.stringContaining("500 ms")),
    );
    await vi.waitFor(() => expect(lines().filter((line) => line === "cancelled stuck")).toHaveLength(2));
  });

  it("is asked for a task again where it fails in passing, and not for ever", async () => {
    const { served, lines } = await start({ initialBackoffMs: 1, maxBackoffMs: 1 });
    await using _ = served;
    expect(await call(served.core, "shaky-task")).toMatchObject(said("done"));
    expect(lines()).not.toContain("cancelled shaky-task");
    expect(await call(served.core, "broken")).toMatchObject(failed("mcp.request_failed"));
    await vi.waitFor(() => expect(lines()).toContain("cancelled broken"));
  });

  it("has no more time for a task that always moves than its call has", async () => {
    const { served, lines } = await start();
    await using _ = served;
    const outcome = await call(served.core, "restless", {}, { timeoutMs: 500 });
    expect(outcome).toMatchObject(failed("tool.timeout"));
    await vi.waitFor(() => expect(lines()).toContain("cancelled restless"));
  });
});

it("asks again to be told what changes where the stream of it ends, and reads what changed meanwhile", async () => {
  const { server } = await behindUrl("2026-07-28");
  await using served = await serve({ server });
  expect(await call(served.core, "drop")).toMatchObject(said("dropped"));
  await vi.waitFor(() => expect(served.tool("later")).toBeDefined());
  expect(served.reports).toEqual([]);
});

it("asks again to be told what changes, and for a task, where a server behind a URL is busy", async () => {
  const { server } = await behindUrl("2026-07-28");
  await using served = await serve({ server });
  expect(await call(served.core, "refuse")).toMatchObject(said("refusing"));
  expect(await call(served.core, "drop")).toMatchObject(said("dropped"));
  await vi.waitFor(() => expect(served.tool("later")).toBeDefined());
  const failures = served.reports.filter(({ message }) => message.includes("does not say when its tools"));
  expect(failures.map(({ code }) => code)).toEqual(["mcp.server_fault"]);
  expect(await call(served.core, "task")).toMatchObject(said("done"));
});

it("leaves out a tool whose inputs cannot be repeated in headers, behind a URL, and names it", async () => {
  const { server } = await behindUrl("2026-07-28", "number-header");
  await using served = await serve({ server });
  expect(served.tool("number-region")).toBeUndefined();
  expect(served.reports).toEqual([
    expect.objectContaining({
      code: "mcp.tool_dropped",
      message: expect.stringMatching(/number-region .*x-mcp-header at properties\.region/),
    }),
  ]);
  await using onStream = await serve({ server: onStreams("2026-07-28", "number-header"), ...patient });
  expect(onStream.tool("number-region")).toBeDefined();
  expect(onStream.reports).toEqual([]);
});

it("misses a server of 2026-07-28 behind a URL as soon as it is gone", async () => {
  const { server, child } = await behindUrl("2026-07-28");
  await using served = await serve({ server });
  child.kill("SIGKILL");
  await vi.waitFor(() => expect(served.health.at(-1)).toBe("degraded"));
  expect(served.reports.map(({ code }) => code)).toContain("mcp.server_lost");
});

it("ends a call in which a server asks for input whoever calls, names it, and keeps secrets out of it", async () => {
  const command: [string, ...string[]] = [process.execPath, fixture("minimal-server.mjs"), "modern"];
  const server = { command, env: ["MCP_TEST_SECRET"] };
  await using served = await serve({ server, env: { MCP_TEST_SECRET: "hush-hush-4711" }, ...patient });
  expect(await call(served.core, "echo", { text: "hi" })).toMatchObject(
    failed(
      "mcp.input_required",
      expect.stringMatching(/: elicitation\/create: Which account of \[redacted\]\?; roots\/list$/),
    ),
  );
  const dropped = [expect.stringContaining("without a name"), expect.stringContaining("the tool bad")];
  expect(served.reports.map(({ message }) => message)).toEqual(dropped);
});

it("knows a tool again where its server speaks another revision", async () => {
  const digestIn = async (manner: string) => {
    const command: [string, ...string[]] = [process.execPath, fixture("minimal-server.mjs"), manner];
    const { tools } = await readMcpTools({ server: { command } });
    return tools.find(({ name }) => name === "echo")?.digest;
  };
  expect(await digestIn("modern")).toBe(await digestIn("refuse"));
});

it("begins tasks of 2025-11-25 for tools that can only be called so, follows them, and cancels them with their call", async () => {
  await using served = await serve({ server: onStreams("2025-11-25"), ...patient });
  const running = served.core.call("mcp.test/task", {});
  const states: unknown[] = [];
  for await (const { data } of running.stream) states.push(data);
  expect(await running.result).toMatchObject(said("done"));
  expect(states).toEqual([{ text: "half" }]);
  const begun = () => served.output.filter((line) => line === "task for 3600000 ms");
  expect(begun()).toHaveLength(1);
  const stuck = served.core.call("mcp.test/stuck", {});
  await vi.waitFor(() => expect(begun()).toHaveLength(2));
  stuck.cancel("enough");
  expect(await stuck.result).toMatchObject({ status: "canceled" });
  await vi.waitFor(() => expect(served.output).toContain("stuck is cancelled"));
});
