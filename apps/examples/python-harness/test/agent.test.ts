import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type AhpHandlers, createAhpServer } from "@harnesskit/ahp-server";
import type { Decision } from "@harnesskit/protocol/ahp";
import { createHttpServer } from "@harnesskit/transport-http/node";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { needPython } from "../../../../scripts/lib/python.ts";
import {
  directory,
  makeDirectory,
  type ProcessEnd,
  pythonCommand,
  runPython,
  serveHttp,
  token,
} from "./support/python.ts";

const binPath = fileURLToPath(new URL("../../../cli/dist/bin.js", import.meta.url));
if (!existsSync(binPath)) throw new TypeError(`${binPath} is missing: build it first, npm run build`);

beforeEach(needPython);

interface Step {
  readonly step: string;
  readonly command?: string;
  readonly decision?: Decision & { by?: string };
  readonly decisions?: readonly Decision[];
  readonly answer?: unknown;
  readonly exit_code?: number | null;
}

const stepsOf = ({ stdout }: ProcessEnd): Step[] =>
  stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Step);

const agent = (args: readonly string[], cwd: string, env: Record<string, string> = {}) =>
  runPython([join(directory, "agent.py"), ...args], { cwd, env });

/** Our server over HTTP, in a directory of the test's own. */
const serve = async (handlers: AhpHandlers) => {
  const { path, tokenFile } = await makeDirectory();
  const heard: string[] = [];
  const harness = createAhpServer({
    name: "test",
    version: "1",
    handlers: {
      fallback: ({ event_type: type }) => {
        heard.push(type);
        return { decision: "allow" };
      },
      query: () => ({ answer: "none" }),
      ...handlers,
    },
  });
  const server = createHttpServer({ routes: { "/ahp": harness }, token });
  await server.listen();
  onTestFinished(async () => {
    await harness.close();
    await server.close();
  });
  const run = (...commands: string[]) => agent(["--http", `${server.url}/ahp`, tokenFile, ...commands], path);
  return { path, harness, heard, run, url: `${server.url}/ahp` };
};

describe("the Python agent with our server over HTTP", () => {
  it("runs what is allowed, as it is allowed, and nothing else", async () => {
    const decisions: Record<string, Decision> = {
      "touch allowed": { decision: "allow" },
      "touch blocked": { decision: "block", reason: "not here" },
      "touch deferred": { decision: "defer", retry_after_ms: 5 },
      "touch escalated": { decision: "escalate", reason: "ask" },
      "touch modified": {
        decision: "modify",
        modified_payload: { tool_name: "bash", arguments: { command: "touch other" } },
      },
    };
    const { path, harness, heard, run } = await serve({
      pre_action: ({ payload, session_id, agent_id, depth }, { handshake }) => {
        expect(handshake).toMatchObject({
          session_id,
          agent_id,
          protocol_version: "2.4",
          agent_info: { framework: "python-agent" },
        });
        expect([agent_id, depth]).toEqual(["python-agent", 0]);
        const { command } = (payload as { arguments: { command: string } }).arguments;
        return decisions[command] as Decision;
      },
    });
    const commands = Object.keys(decisions);
    const end = await run(...commands);
    expect(end).toMatchObject({ code: 3, stderr: "" });
    const steps = stepsOf(end);
    expect(steps.slice(0, 5)).toEqual(
      commands.map((command) => ({
        step: "pre_action",
        command,
        decision: decisions[command],
        exit_code: ["touch allowed", "touch modified"].includes(command) ? 0 : null,
      })),
    );
    expect(steps.slice(5)).toEqual([
      { step: "batch", decisions: [{ decision: "allow" }, { decision: "allow" }] },
      { step: "query", answer: "none" },
    ]);
    const made = ["allowed", "blocked", "deferred", "escalated", "modified", "other"].filter((name) =>
      existsSync(join(path, name)),
    );
    expect(made).toEqual(["allowed", "other"]);
    expect(heard).toEqual([
      ...["session_start", "run_lifecycle", "post_action", "post_action"],
      ...["pre_prompt", "post_response", "run_lifecycle", "session_end"],
    ]);
    expect(harness.state.runs()).toMatchObject([{ agent_id: "python-agent", status: "completed" }]);
    expect(harness.stats()).toMatchObject({ handshakes: 1, batches: 1, queries: 1, refusedRequests: 0 });
  });

  it("runs nothing where a handler fails, and says so by its exit code", async () => {
    const { path, run } = await serve({
      pre_action: () => {
        throw new RangeError("the policy is broken");
      },
    });
    const end = await run("touch made");
    expect(end).toMatchObject({ code: 4, stderr: "" });
    expect(stepsOf(end)[0]).toEqual({
      step: "pre_action",
      command: "touch made",
      decision: {
        decision: "block",
        reason: "The harness gave no decision: error -32603: Handler error: the handler failed",
        by: "agent",
      },
      exit_code: null,
    });
    expect(existsSync(join(path, "made"))).toBe(false);
  });

  it("runs nothing without the right token, or without a harness", async () => {
    const { harness, url } = await serve({});
    const { path, tokenFile } = await makeDirectory();
    const wrong = await agent(["--http", url, "/dev/null", "touch made"], path);
    expect(wrong).toMatchObject({ code: 4, stdout: "", stderr: "the harness answered with status 401\n" });
    const absent = await agent(["--http", "http://127.0.0.1:1/ahp", tokenFile, "touch made"], path);
    expect(absent).toMatchObject({
      code: 4,
      stdout: "",
      stderr: expect.stringContaining("cannot be reached"),
    });
    expect(existsSync(join(path, "made"))).toBe(false);
    expect(harness.stats()).toMatchObject({ requests: 0, notifications: 0 });
  });
});

describe("the Python agent with harness ahp serve --stdio", () => {
  it.each([
    ["allow", 0, 0],
    ["block", 3, null],
    ["escalate", 3, null],
  ])("starts it, obeys its %s, and ends it", async (decision, code, exit_code) => {
    const { path } = await makeDirectory();
    const audit = join(path, "audit.jsonl");
    const words = [
      process.execPath,
      binPath,
      "ahp",
      "serve",
      "--stdio",
      "--default",
      decision,
      "--audit",
      audit,
    ];
    const end = await agent(["--stdio", words.map((word) => `'${word}'`).join(" "), "touch made"], path);
    expect(end.code, end.stderr).toBe(code);
    const [action, batch, query] = stepsOf(end);
    expect(action).toMatchObject({ step: "pre_action", decision: { decision }, exit_code });
    expect(batch?.decisions).toMatchObject([{ decision }, { decision: "allow" }]);
    expect(query?.answer).toMatchObject([
      { agent_id: "python-agent", status: "completed", is_finished: true },
    ]);
    expect(existsSync(join(path, "made"))).toBe(decision === "allow");
    const entries = (await readFile(audit, "utf8")).trim().split("\n");
    const actions = entries.map((line) => (JSON.parse(line) as { action: string }).action);
    expect(actions.at(-1)).toBe("audit.closed");
    expect(actions.filter((name) => name === "ahp.contract")).toHaveLength(2);
    expect(actions.filter((name) => name === "ahp.batch")).toHaveLength(1);
  });
});

describe("the Python agent with the Python harness", () => {
  const commands = ["touch made", "rm -rf made", "touch more"];

  const expectObeyed = (end: ProcessEnd, path: string) => {
    expect(end.code, end.stderr).toBe(3);
    expect(stepsOf(end).map(({ decision }) => decision?.decision)).toEqual([
      ...["allow", "block", "allow"],
      ...[undefined, undefined],
    ]);
    expect(["made", "more"].every((name) => existsSync(join(path, name)))).toBe(true);
  };

  it("works over standard input and output", async () => {
    const { path } = await makeDirectory();
    const harness = pythonCommand(join(directory, "harness.py"));
    expectObeyed(await agent(["--stdio", harness, ...commands], path), path);
  });

  it("works over HTTP", async () => {
    const { path, tokenFile } = await makeDirectory();
    expectObeyed(await agent(["--http", await serveHttp(tokenFile), tokenFile, ...commands], path), path);
  });
});

describe("the Python agent refuses by itself", () => {
  const odd = (way: string) => pythonCommand(join(directory, "test/fixtures/odd_harness.py"), way);

  it.each([
    ["speaks another version", "version", "the harness speaks another version"],
    ["refuses the handshake", "refuse", "error -32000: Unsupported version"],
    ["answers with neither result nor error", "shapeless", "something else"],
    ["answers with no JSON", "noise", "something else"],
  ])("all of it where a harness %s", async (_what, way, reason) => {
    const { path } = await makeDirectory();
    const end = await agent(["--stdio", odd(way), "touch made"], path);
    expect(end).toMatchObject({ code: 4, stdout: "" });
    expect(end.stderr).toContain(reason);
    expect(existsSync(join(path, "made"))).toBe(false);
  });

  it.each([
    ["stays silent", "silent", "did not answer in time"],
    ["answers late", "late", "did not answer in time"],
    ["ends", "end", "the harness ended"],
    ["answers with no JSON", "garbage", "something else"],
    ["answers with a result and an error", "both", "something else"],
    ["answers for no id", "id", "something else"],
    ["has no such decision", "unknown", "no decision"],
    ["modifies without saying how", "bare", "no decision"],
    ["modifies to what is no command", "command", "no command"],
    ["modifies a field that the action does not have", "part", "change of command cannot"],
    ["modifies more than the command", "extra", "change of arguments cannot"],
  ])("an action where a harness %s", async (_what, way, reason) => {
    const { path } = await makeDirectory();
    const end = await agent(["--stdio", odd(way), "touch made"], path);
    expect(end.code, end.stderr).toBe(4);
    expect(stepsOf(end)[0]).toMatchObject({
      decision: { decision: "block", reason: expect.stringContaining(reason), by: "agent" },
      exit_code: null,
    });
    expect(existsSync(join(path, "made"))).toBe(false);
  });

  it.each([
    ["has too many decisions", "count", "not as many decisions as events"],
    ["takes smaller ones", "small", "larger than the harness takes"],
  ])("a batch where a harness %s", async (_what, way, reason) => {
    const { path } = await makeDirectory();
    const end = await agent(["--stdio", odd(way)], path);
    expect(end.code, end.stderr).toBe(4);
    const refused = { decision: "block", reason: expect.stringContaining(reason) as string };
    expect(stepsOf(end)[0]?.decisions).toMatchObject([refused, refused]);
  });

  it("everything where there is no such program", async () => {
    const { path } = await makeDirectory();
    const end = await agent(["--stdio", "/does/not/exist", "touch made"], path);
    expect(end).toMatchObject({ code: 4, stdout: "", stderr: expect.stringContaining("cannot be started") });
  });

  it("a command line that is none", async () => {
    const { path } = await makeDirectory();
    expect(await agent([], path)).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("agent.py"),
    });
  });
});
