import { once } from "node:events";
import { chmod, mkdir, stat, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import {
  binPath,
  jsonLines,
  makeWorkspace,
  noPolicyNotice,
  nothingRunsWith,
  startProgram,
} from "./support/harness.ts";
import { harness, startHarness } from "./support/in-process.ts";
import { ProtocolClient } from "./support/protocol-client.ts";
import { SocketClient, serveSocket } from "./support/socket-server.ts";

describe("harness serve --listen", () => {
  it("serves a socket as a service, says where, and at the end what it leaves, and removes the socket", async () => {
    const server = await serveSocket();
    const path = server.endpoint.slice("unix:".length);
    expect(server.program.stderr).toBe(`${noPolicyNotice}harness serve: listening on ${server.endpoint}\n`);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const client = await SocketClient.connect(server);
    const threadId = await client.createThread();
    await client.startTurn(threadId, "read README.md");
    expect((await client.notified("turn.completed")).params).toMatchObject({ threadId, status: "completed" });
    server.program.kill("SIGTERM");
    const { stderr, ...ended } = await server.program.ended;
    expect(ended).toEqual({ code: 0, signal: null, stdout: "" });
    expect(stderr).toContain(`harness serve: ended; threads are kept in ${server.cwd}/.harness\n`);
    await expect(stat(path)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("ends with its standard input: what was asked there is answered, turns end, and the socket is removed", async () => {
    const cwd = await makeWorkspace();
    const endpoint = `unix:${join(cwd, ".harness", "s.sock")}`;
    const program = startHarness(["serve", "--no-policy", "--listen", endpoint], { cwd });
    await program.reports(/listening on/);
    const client = await SocketClient.connect({ cwd, endpoint, program });
    const threadId = await client.createThread();
    const requestId = await client.waitingApproval(threadId, "run the command: sleep 300");
    await client.peer.request("approval.respond", { requestId, decision: "once" });
    await client.notified("approval.resolved");
    program.endInput(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: {} })}\n`);
    expect((await client.notified("turn.error")).params.code).toBe("server_closed");
    const end = await program.ended;
    expect(end).toMatchObject({ code: 0, signal: null });
    expect(jsonLines(end.stdout)).toContainEqual(
      expect.objectContaining({ id: 1, result: expect.objectContaining({ version: "1.0.0" }) }),
    );
    await expect(stat(endpoint.slice("unix:".length))).rejects.toMatchObject({ code: "ENOENT" });
    await nothingRunsWith(cwd);
  });

  it.each([
    ["closed", "<&-"],
    ["the null device", "< /dev/null"],
  ])("stays as a service where standard input is %s at the start", async (_, redirection) => {
    const cwd = await makeWorkspace();
    const path = join(cwd, ".harness", "s.sock");
    const args = [process.execPath, binPath, "serve", "--no-policy", "--listen", `unix:${path}`];
    const program = startProgram("sh", ["-c", `exec "$@" ${redirection}`, "sh", ...args], { cwd });
    await program.reports(/listening on/);
    const client = await SocketClient.connect({ cwd, endpoint: `unix:${path}`, program });
    expect(await client.createThread()).toMatch(/^ses_/);
    // The terminal is closed from which nohup started it.
    program.kill("SIGHUP");
    expect(await client.createThread()).toMatch(/^ses_/);
    expect(await client.createThread()).toMatch(/^ses_/);
    program.kill("SIGTERM");
    expect(await program.ended).toMatchObject({ code: 0, signal: null });
  });

  it("ends a turn that runs as server_closed, and its clients hear it", async () => {
    const server = await serveSocket();
    const client = await SocketClient.connect(server);
    const threadId = await client.createThread();
    const requestId = await client.waitingApproval(threadId, "run the command: sleep 300");
    await client.peer.request("approval.respond", { requestId, decision: "once" });
    await client.notified("approval.resolved");
    server.program.kill("SIGINT");
    expect((await client.notified("turn.error")).params.code).toBe("server_closed");
    expect((await server.program.ended).code).toBe(130);
  });

  it("refuses a socket where a server listens with exit code 4, and leaves that one alone", async () => {
    const server = await serveSocket();
    const end = await harness(["serve", "--listen", server.endpoint], { cwd: server.cwd });
    expect(end).toMatchObject({ code: 4, stdout: "" });
    expect(end.stderr).toContain("already");
    expect(end.stderr).toContain("harness attach unix:PATH");
    const client = await SocketClient.connect(server);
    expect(await client.createThread()).toMatch(/^ses_/);
  });

  it("says little of clients that send nonsense, and how much more there was", async () => {
    const server = await serveSocket();
    const path = server.endpoint.slice("unix:".length);
    const nonsense = Buffer.concat([Buffer.from([0, 0, 0, 2]), Buffer.from("{x")]);
    const babble = async (messages: number) => {
      const socket = connect(path);
      socket.resume().end(Buffer.concat(Array.from({ length: messages }, () => nonsense)));
      await once(socket, "close");
    };
    await babble(839);
    await babble(6);
    server.program.kill("SIGTERM");
    const { code, stderr } = await server.program.ended;
    expect(code).toBe(0);
    expect(stderr.match(/not JSON/g)).toHaveLength(30);
    expect(stderr).toContain("harness serve: … and 815 more\n");
  });

  it("lets its clients choose the models that it was started with, and who started it any", async () => {
    const cwd = await makeWorkspace();
    const endpoint = `unix:${join(cwd, ".harness", "s.sock")}`;
    const allow = ["--allow-model", "openai-compatible:http://127.0.0.1:9/v1/#m"];
    const program = startHarness(["serve", "--listen", endpoint, ...allow], { cwd });
    await vi.waitFor(() => expect(program.stderr).toContain("listening on"), { timeout: 15_000 });
    const stdio = new ProtocolClient(program);
    const client = await SocketClient.connect({ cwd, endpoint, program });
    const input = [{ type: "text", text: "read README.md" }];
    const start = async (providerID: string, modelID: string) => {
      const params = { threadId: await client.createThread(), input, model: { providerID, modelID } };
      return client.peer.request("turn.start", params);
    };
    const elsewhere = ["openai-compatible", "http://127.0.0.1:9/other#m"] as const;
    const models = ["offline", "openai-compatible:http://127.0.0.1:9/v1#m"];
    await expect(start(...elsewhere)).rejects.toMatchObject({
      rpcCode: -32602,
      data: { reason: "model.not_allowed", models },
    });
    await expect(start("openai", "gpt")).rejects.toMatchObject({ data: { reason: "model.not_allowed" } });
    await expect(start("acme", "m")).rejects.toMatchObject({
      rpcCode: -32602,
      data: { reason: "model.unknown" },
    });
    await expect(start("offline", "planner")).resolves.toMatchObject({ turnId: expect.any(String) });
    const allowed = start("openai-compatible", "http://127.0.0.1:9/v1#m");
    await expect(allowed).resolves.toMatchObject({ turnId: expect.any(String) });
    const [providerID, modelID] = elsewhere;
    const threadId = await stdio.createThread();
    const free = await stdio.startTurn(threadId, "read README.md", { model: { providerID, modelID } });
    expect(free.result).toMatchObject({ turnId: expect.any(String) });
  });

  it.each([
    ["tcp:127.0.0.1:0", "An endpoint is unix:PATH"],
    ["unix:", "An endpoint is unix:PATH"],
    ["unix:/", "names a directory"],
    ["unix:~/x.sock", 'Write "unix:$HOME/x.sock"'],
    ["/tmp/x.sock", "An endpoint is unix:PATH"],
    [`unix:${"x".repeat(200)}`, "choose a shorter directory"],
    ["unix:file", "is not a socket and was left alone"],
    ["unix:open/s.sock", "make a directory of your own"],
  ])("refuses %s with exit code 2 and says what to do", async (endpoint, text) => {
    const cwd = await makeWorkspace({ file: "text" });
    await chmod(cwd, 0o700);
    await mkdir(join(cwd, "open"));
    await chmod(join(cwd, "open"), 0o777);
    await writeFile(join(cwd, "open", "note"), "");
    const end = await harness(["serve", "--listen", "unix:.harness/ok.sock", "--listen", endpoint], {
      cwd,
    });
    expect(end).toMatchObject({ code: 2, stdout: "" });
    expect(end.stderr).toContain(text);
    await expect(stat(join(cwd, ".harness/ok.sock"))).rejects.toMatchObject({ code: "ENOENT" });
    await expect(stat(join(cwd, "~"))).rejects.toMatchObject({ code: "ENOENT" });
  });
});
