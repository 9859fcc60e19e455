import { once } from "node:events";
import { mkdir, readFile, stat, symlink } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { openSqliteStore } from "@harnesskit/store-sqlite";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { conversationsOf } from "../src/store/location.ts";
import { makeWorkspace, startProcess } from "./support/harness.ts";
import { harness, startAtTerminal } from "./support/in-process.ts";

const isThere = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );

/** A provider that refuses every request with these words. */
const refusingProvider = async (status: number, message: string): Promise<string> => {
  const server = createServer((request, response) => {
    request.resume();
    response
      .writeHead(status, { "content-type": "application/json" })
      .end(JSON.stringify({ error: { message } }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
  });
  return `openai-compatible:http://127.0.0.1:${(server.address() as AddressInfo).port}/v1#m`;
};

describe("harness chat", () => {
  it("takes lines, runs what reads, and leaves what writes waiting", async () => {
    const cwd = await makeWorkspace();
    const input =
      "read README.md\nwrite notes.txt: milk\nlist files\n/reject zzz\n/dance\n/reject\n/pending\n";
    const { code, stdout, stderr } = await harness(["chat", "--session", "s1"], { cwd, input });
    // A call was rejected.
    expect({ code, stderr }).toEqual({ code: 3, stderr: "" });
    expect(stdout).toContain("session s1, model offline");
    expect(stdout).toContain("› read README.md\n");
    expect(stdout).toContain("● read README.md, 3 lines ✓\n");
    expect(stdout).toContain("A small demo.");
    expect(stdout).toContain("  ? write: create notes.txt (+1)\n");
    expect(stdout).toContain("  │ +++ b/notes.txt\n  │ @@ -0,0 +1,1 @@\n  │ +milk\n");
    expect(stdout).toMatch(/\n {2}\/approve ([0-9a-f]{8}) {3}\/reject \1 \[REASON\]\n/);
    // The conversation goes on beside what waits.
    expect(stdout).toContain("● glob ");
    expect(stdout).toContain("Nothing waits under zzz.");
    expect(stdout).toContain("There is no command /dance.");
    expect(stdout).toContain("✗ refused: The user rejected this call, and it was not run.\n");
    expect(stdout).toContain("Not done: writing `notes.txt` was refused");
    expect(stdout).toContain("Nothing waits.\n");
    expect(stdout.trimEnd().endsWith("to continue: harness chat --session s1")).toBe(true);
    expect(stdout).not.toContain("\u001b");
    expect(await isThere(join(cwd, "notes.txt"))).toBe(false);
    expect((await stat(conversationsOf(cwd).file)).mode & 0o777).toBe(0o600);
  });

  it("a conversation that came with the directory runs nothing, even where it says that a human allowed a call", async () => {
    const cwd = await makeWorkspace();
    const file = join(cwd, ".harness", "chat.sqlite");
    const input = "run the command: touch planted\n";
    await harness(["chat", "--session", "s1", "--store", file], { cwd, input });
    const store = await openSqliteStore({ file });
    const [waiting] = await store.suspensions.list({ status: "suspended" });
    if (!waiting) throw new RangeError("nothing waits");
    await store.suspensions.save({
      kind: "patch",
      invocationId: waiting.invocation_id,
      signal: { payload: { approval: { decision: "approve" } }, accepted_at: new Date().toISOString() },
      expectedRevision: waiting.revision,
    });
    await store.close();
    const { stdout } = await harness(["chat"], { cwd, input: "hello\n" });
    expect(stdout).not.toContain("planted");
    expect(await isThere(join(cwd, "planted"))).toBe(false);
  });

  it("an approval that a process left behind when it was killed is answered in a later one", async () => {
    const cwd = await makeWorkspace();
    const first = startProcess(["chat", "--session", "s1"], { cwd });
    first.write("run the command: echo ran >> ran.txt\n");
    const [, id = ""] = await first.sees(/\/approve ([0-9a-f]{8})/);
    first.kill("SIGKILL");
    expect(await first.ended).toMatchObject({ signal: "SIGKILL" });
    expect(await isThere(join(cwd, "ran.txt"))).toBe(false);
    // Another conversation is told that something waits, and cannot answer it.
    const other = await harness(["chat", "--session", "s2"], { cwd, input: `/approve ${id}\n` });
    expect(other.stdout).toContain(`Nothing waits under ${id}.`);
    expect(other.stdout).toContain("In other conversations, 1 call waits: s1 (harness chat --session ID)\n");
    const second = await harness(["chat", "--session", "s1"], {
      cwd,
      input: `/approve ${id}\n/approve ${id}\n`,
    });
    expect(second).toMatchObject({ code: 0, stderr: "" });
    expect(second.stdout).toContain("  ? bash: run this command\n  │ echo ran >> ran.txt\n");
    expect(second.stdout).toContain("● bash echo ran >> ran.txt, no output ✓\n");
    expect(second.stdout).not.toContain("1 call waits");
    expect(await readFile(join(cwd, "ran.txt"), "utf8")).toBe("ran\n");
  });

  it("in a terminal asks with a prompt, cancels a turn with Esc and Ctrl-C, and leaves with two at an empty line", async () => {
    const cwd = await makeWorkspace();
    const program = startAtTerminal(["chat"], { cwd });
    await program.sees(/› /);
    program.write("run the command: echo other; sleep 60\r");
    await program.sees(/Esc: leave it waiting/);
    program.write("y");
    await program.sees(/│ other/);
    program.write("\u001b");
    await program.sees(/○ cancelled[\s\S]*› /);
    program.write("/approve\r");
    await program.sees(/Stopped: running[\s\S]*› /);
    const before = program.stdout.length;
    const seesNow = (pattern: RegExp) =>
      vi.waitFor(() => expect(program.stdout.slice(before)).toMatch(pattern), { timeout: 15_000 });
    program.write("run the command: echo begun > begun.txt; sleep 60\r");
    await seesNow(/Allow it\?/);
    program.write("y");
    await seesNow(/Allow it\?[\s\S]*●[^\n]*bash/);
    program.write("\u0003");
    await seesNow(/cancelled/);
    await seesNow(/bash was cancelled while it ran, and is not run again\./);
    program.write("/approve\r");
    await seesNow(/Stopped: running[\s\S]*› /);
    program.write("\u0003");
    await program.sees(/Ctrl-C again, Ctrl-D or \/quit leaves\./);
    program.write("\u0003");
    const { code, stdout } = await program.ended;
    expect(code).toBe(130);
    expect(stdout).toContain("harness chat --session chat_");
  });

  it("judges by the shipped policy, shows what a command prints, and is not asked again after always", async () => {
    const cwd = await makeWorkspace({ ".env": "KEY=secret\n" });
    const asked = await harness(["chat", "--no-hub"], { cwd, input: "read .env\n" });
    expect(asked.stdout).toMatch(/read: call it with this input[\s\S]*because /);
    const blocked = await harness(["chat", "--no-hub"], { cwd, input: "run the command: rm -rf /\n" });
    expect(blocked.stdout).toContain("use --policy FILE");
    expect(blocked.code).toBe(3);
    const chat = async () => {
      const program = startAtTerminal(["chat", "--no-hub"], { cwd });
      await program.sees(/› /);
      program.write("run the command: echo one; sleep 1; echo two > ran.txt\r");
      return program;
    };
    const first = await chat();
    await first.sees(/2 Always[\s\S]*for exactly this, in /);
    first.write("2");
    await first.sees(/│ one\n?/);
    await first.sees(/●[^\n]*bash[\s\S]*✓[\s\S]*› /);
    first.write("exit\r");
    await first.ended;
    const second = await chat();
    await second.sees(/│ one[\s\S]*✓[\s\S]*› /);
    second.write("/quit\r");
    expect((await second.ended).stdout).not.toContain("Allow it?");
  });

  it("says what a provider says, with its category, and fails", async () => {
    const cwd = await makeWorkspace();
    const model = await refusingProvider(400, "maximum context length is 8192 tokens");
    const { code, stdout } = await harness(["chat", "--model", model], { cwd, input: "hello\n" });
    expect(code).toBe(1);
    expect(stdout).toMatch(/session chat_[0-9a-f]{8}, model openai-compatible:/);
    expect(stdout).toContain("maximum context length is 8192 tokens");
    expect(stdout).toContain("(provider_invalid_request)");
  });

  it("says what to do where it cannot begin", async () => {
    const cwd = await makeWorkspace();
    const input = "hello\n";
    await mkdir(join(cwd, "place"));
    await symlink(join(cwd, "place", "real"), join(cwd, "link"));
    const [model, key, store] = await Promise.all([
      harness(["chat", "--model", "gpt", "--session", "s1"], { cwd, input }),
      harness(["chat", "--model", "anthropic:m"], { cwd, input }),
      harness(["chat", "--store", join(cwd, "link")], { cwd, input }),
    ]);
    expect(model).toMatchObject({ code: 2, stdout: "" });
    expect(model.stderr).toContain("--model: ");
    expect(key).toMatchObject({ code: 4, stdout: "" });
    expect(key.stderr).toContain("ANTHROPIC_API_KEY is not set");
    expect(store).toMatchObject({ code: 4, stdout: "" });
    expect(store.stderr).toContain("Name another file: --store FILE");
  });
});
