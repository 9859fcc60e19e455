import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  type ActionDirective,
  approvalSubject,
  type Continuation,
  type ShellResponse,
  ShellResponseSchema,
} from "@harnesskit/protocol/openharness";
import { createHttpExchange } from "@harnesskit/transport-http/node";
import { digest } from "@harnesskit/wire";
import { describe, expect, it, onTestFinished } from "vitest";
import { engineNoticeFile } from "../src/engine/engine-notice.ts";
import { makeAgent, signingTool } from "./support/agents.ts";
import { makeWorkspace, type Start, startProcess } from "./support/harness.ts";
import { harness, startHarness } from "./support/in-process.ts";

const able = { "openharness.ui.rich_cards": true, "openharness.ui.approval": true };

/** `harness engine` in a workspace, with a state directory of its own, and a shell for it. */
const startEngine = async (cwd: string, args: readonly string[] = [], start: Start = startHarness) => {
  const state = join(cwd, "state");
  const program = start(["engine", ...args], { cwd, env: { XDG_STATE_HOME: state } });
  const [, url = ""] = await program.reports(/listening on (http:\/\/127\.0\.0\.1:\d+\/openharness)/);
  const tokenFile = /^harness engine: token in (.+)$/m.exec(program.stderr)?.[1];
  const token = tokenFile === undefined ? undefined : (await readFile(tokenFile, "utf8")).trim();
  const exchange = createHttpExchange({
    url,
    ...(token !== undefined && { credentials: { bearer: token } }),
  });
  onTestFinished(() => exchange.close());
  const post = async (context: object, capabilities: object = able): Promise<ShellResponse> => {
    const request = { context: { session_id: "s1", ...context } };
    return ShellResponseSchema.parse(
      await exchange.handle({ protocol_version: "1.0.0", capabilities, request }),
    );
  };
  return {
    program,
    url,
    token,
    tokenFile,
    notice: engineNoticeFile({ XDG_STATE_HOME: state }),
    post,
    say: (user_intent: string) => post({ user_intent }),
    async answer(directive: ActionDirective, decision: "approved" | "refused") {
      const approval = { decision, digest: await digest(approvalSubject(directive)) };
      const continuation = directive.payload?.continuation as Continuation;
      return post({ continuation, extensions: { "dev.harnesskit": { approval } } });
    },
  };
};

const typesOf = ({ response }: ShellResponse): string[] =>
  (response.action_directives ?? []).map(({ action_type }) => action_type);

const textOf = ({ response }: ShellResponse): string =>
  (response.action_directives ?? []).map(({ payload }) => String(payload?.message ?? "")).join("\n");

const questionIn = ({ response }: ShellResponse): ActionDirective =>
  response.action_directives?.find(({ action_type }) => action_type === "request_approval") ??
  expect.fail("nothing was asked");

const isThere = (file: string) =>
  stat(file).then(
    () => true,
    () => false,
  );

describe("harness engine", () => {
  it("lets the model use the tools of other agents, asked about as what they are", async () => {
    const cwd = await makeWorkspace();
    const agent = await makeAgent("com.example.signer", signingTool);
    const env = { XDG_STATE_HOME: join(cwd, "state") };
    await harness(["core", "grant", "com.example.signer", "side_effects"], { cwd, env });
    const engine = await startEngine(cwd, ["--agents", agent]);
    const asked = questionIn(await engine.say('use the tool com.example.signer sign with {"name":"Ada"}'));
    expect(asked).toMatchObject({
      risk_tier: "dangerous",
      payload: {
        message: expect.stringContaining("com.example.signer/sign: it does not say what it changes"),
        subject: { tool: "com_example_signer__sign", input: { name: "Ada" } },
      },
    });
    const refused = await engine.answer(asked, "refused");
    expect(textOf(refused)).toContain("was refused");
    expect(await isThere(join(agent, "signed"))).toBe(false);
    const again = questionIn(await engine.say('use the tool com.example.signer sign with {"name":"Bob"}'));
    expect(textOf(await engine.answer(again, "approved"))).toContain('{"signed":"Bob"}');
    expect(await readFile(join(agent, "signed"), "utf8")).toBe("Bob");
  });

  it("talks with shells, asks before it writes, and says how it is reached", async () => {
    const cwd = await makeWorkspace();
    const { program, say, answer, notice, url, token, tokenFile = "" } = await startEngine(cwd);
    expect(program.stderr.split("\n")[0]).toBe(`harness engine: token in ${tokenFile}`);
    expect((await stat(tokenFile)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(notice, "utf8"))).toEqual({
      ...{ url, tokenFile, pid: process.pid },
      conversations: expect.stringContaining(`sqlite:${cwd}/state/harnesskit/chats/`),
    });
    expect((await stat(notice)).mode & 0o777).toBe(0o600);
    const read = await say("read README.md");
    expect(typesOf(read)).toEqual(["render_message", "render_ui", "render_message"]);
    const asked = await say("write milk.txt: two litres");
    const question = questionIn(asked);
    expect(question).toMatchObject({
      risk_tier: "caution",
      payload: {
        title: "Run write?",
        message: `It works in ${cwd}, and changes files.`,
        subject: { tool: "write", input: { path: "milk.txt", content: "two litres" } },
      },
    });
    expect(await isThere(join(cwd, "milk.txt"))).toBe(false);
    expect(textOf(await answer(question, "approved"))).toContain("I wrote `milk.txt`.");
    expect(await readFile(join(cwd, "milk.txt"), "utf8")).toBe("two litres");
    // The risk is that of the command, as in harness run.
    expect(questionIn(await say("run the command: touch done"))).toMatchObject({ risk_tier: "caution" });
    expect(questionIn(await say("run the command: sudo rm done"))).toMatchObject({ risk_tier: "dangerous" });
    program.kill("SIGTERM");
    expect(await program.ended).toMatchObject({ code: 0, signal: null, stdout: "" });
    expect([await isThere(notice), await isThere(tokenFile)]).toEqual([false, false]);
    const { stderr } = program;
    expect(stderr).toMatch(/\d\d:\d\d:\d\d 1 render_message, 1 request_approval in .*; session s1\n/);
    for (const secret of [token ?? "", "litres", "milk.txt", "continuation"])
      expect(stderr).not.toContain(secret);
  });

  it("takes the answer that was given after it was killed, once; harness chat knows the conversation", async () => {
    const cwd = await makeWorkspace();
    const first = await startEngine(cwd, [], startProcess);
    const question = questionIn(await first.say("write milk.txt: two litres"));
    first.program.kill("SIGKILL");
    await first.program.ended;
    const env = { XDG_STATE_HOME: join(cwd, "state") };
    const chat = await harness(["chat", "--session", "s1"], { cwd, env, input: "/pending\n" });
    expect(chat.stdout).toContain("1 call waits for your approval.");
    const second = await startEngine(cwd);
    expect(questionIn(await second.post({})).payload?.subject).toEqual(question.payload?.subject);
    expect(textOf(await second.answer(question, "approved"))).toContain("I wrote `milk.txt`.");
    expect((await second.answer(question, "approved")).response.error?.code).toBe("continuation_used");
    expect(await readFile(join(cwd, "milk.txt"), "utf8")).toBe("two litres");
    second.program.kill("SIGINT");
    expect(await second.program.ended).toMatchObject({
      ...{ code: 130, signal: null },
      stderr: expect.stringContaining(
        `harness engine: ended; conversations are kept in sqlite:${cwd}/state/harnesskit/chats/`,
      ),
    });
  });

  it("asks what waits also when it was started again, on another port: the command that a shell printed still leads there", async () => {
    const cwd = await makeWorkspace();
    const first = await startEngine(cwd);
    const shell = (words: readonly string[]) =>
      harness(["shell", ...words], { cwd, env: { XDG_STATE_HOME: join(cwd, "state") } });
    const asked = await shell(["write milk.txt: two litres"]);
    const [, sessionId = ""] = /harness shell --session (\S+)$/m.exec(asked.stderr) ?? [];
    expect([asked.code, sessionId]).toEqual([3, expect.stringMatching(/^sess_/)]);
    first.program.kill("SIGTERM");
    await first.program.ended;
    const second = await startEngine(cwd);
    expect(second.url).not.toBe(first.url);
    expect(await shell(["--session", sessionId, "--approve", "once"])).toMatchObject({ code: 0 });
    expect(await readFile(join(cwd, "milk.txt"), "utf8")).toBe("two litres");
  });

  it("takes every name of a session and a thread that the protocol takes", async () => {
    const { post, program } = await startEngine(await makeWorkspace(), ["--quiet"]);
    const session_id = "s".repeat(512);
    const names = [{ session_id: "" }, { session_id }, { session_id, conversation_id: "c".repeat(512) }];
    for (const name of names) {
      const { response } = await post({ ...name, user_intent: "help" });
      expect(response).toMatchObject({ status: "success" });
    }
    program.kill("SIGTERM");
    expect((await program.ended).code).toBe(0);
  });

  it("lets nobody in without the token, nor a page of an origin that was not named", async () => {
    const cwd = await makeWorkspace();
    await writeFile(join(cwd, "token"), "a-token-of-the-user\n", { mode: 0o600 });
    const origin = "http://localhost:5173";
    const { url, program } = await startEngine(cwd, [
      "--token-file",
      "token",
      "--allow-origin",
      origin,
      "--quiet",
    ]);
    expect(program.stderr).toContain(`token in ${join(cwd, "token")}\n`);
    const body = JSON.stringify({ protocol_version: "1.0.0", request: { context: { user_intent: "help" } } });
    const post = (headers: Record<string, string>) =>
      fetch(url, { method: "POST", body, headers: { "content-type": "application/json", ...headers } });
    const authorization = "Bearer a-token-of-the-user";
    expect((await post({})).status).toBe(401);
    expect((await post({ authorization, origin: "http://evil.example" })).status).toBe(403);
    const answer = await post({ authorization, origin, "x-request-id": "r1", "x-correlation-id": "c1" });
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([200, origin]);
    expect([answer.headers.get("x-request-id"), answer.headers.get("x-correlation-id")]).toEqual([
      "r1",
      "c1",
    ]);
    expect(await answer.json()).toMatchObject({ correlation_id: "c1", response: { status: "success" } });
    program.kill("SIGTERM");
    const { code, stderr } = await program.ended;
    expect([code, stderr.split("\n").length]).toEqual([0, 4]);
    expect(await readFile(join(cwd, "token"), "utf8")).toBe("a-token-of-the-user\n");
  });

  it("asks for no token where it is told so, and says that", async () => {
    const cwd = await makeWorkspace();
    const { post, program, notice, tokenFile } = await startEngine(cwd, ["--no-auth"]);
    expect(tokenFile).toBeUndefined();
    expect(program.stderr).toContain("NO TOKEN is asked for (--no-auth)");
    expect(JSON.parse(await readFile(notice, "utf8"))).not.toHaveProperty("tokenFile");
    expect((await post({ user_intent: "help" }, {})).response.status).toBe("success");
  });

  it.each([
    [["--port", "70000"], 2, /--port must be a number from 0 to 65535/],
    [["--allow-origin", "*"], 2, /--allow-origin: an allowed origin must be one origin without a wildcard/],
    [["--no-auth", "--token-file", "t"], 2, /cannot be used with/],
    [["--model", "nothing"], 2, /--model/],
    [["--model", "anthropic:m"], 4, /ANTHROPIC_API_KEY/],
  ] as const)("refuses %j", async (args, code, words) => {
    const cwd = await makeWorkspace();
    const end = await harness(["engine", ...args], { cwd, env: { XDG_STATE_HOME: join(cwd, "state") } });
    expect([end.code, end.stdout]).toEqual([code, ""]);
    expect(end.stderr).toMatch(words);
  });

  it("says that the port is taken, and of a token that others can read", async () => {
    const cwd = await makeWorkspace({ open: "a-token-of-the-user\n" });
    const { url } = await startEngine(cwd);
    const env = { XDG_STATE_HOME: join(cwd, "state") };
    const taken = await harness(["engine", "--port", new URL(url).port], { cwd, env });
    expect([taken.code, taken.stderr]).toEqual([4, expect.stringContaining("Choose another port")]);
    const open = await harness(["engine", "--token-file", "open"], { cwd, env });
    expect([open.code, open.stderr]).toEqual([2, expect.stringContaining("is open to other users")]);
  });
});
