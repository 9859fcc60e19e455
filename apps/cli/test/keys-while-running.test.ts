import { beforeEach, describe, expect, it } from "vitest";
import { binPath, makeWorkspace, startProgram } from "./support/harness.ts";
import { startAtTerminal } from "./support/in-process.ts";
import { hasPseudoTerminal, startInTerminal, withoutPseudoTerminal } from "./support/pseudo-terminal.ts";
import { SocketClient, serveSocket } from "./support/socket-server.ts";

const [esc, ctrlC, ctrlZ] = ["\u001b", "\u0003", "\u001a"];

describe("while a turn of harness run works", () => {
  beforeEach((context) => {
    if (!hasPseudoTerminal()) context.skip(withoutPseudoTerminal);
  });

  const command = (line: string) => ["run", "--no-policy", "--approve", "once", `run the command: ${line}`];

  it("what is pasted cancels nothing, whatever is in it; arrow keys and Alt with a letter neither; Esc does", async () => {
    const cwd = await makeWorkspace();
    const program = startInTerminal(command("echo $((40+2)); sleep 60"), { cwd });
    await program.sees(/42[\s\S]*Esc cancels/);
    program.write(`${esc}[200~a${esc}${esc}${esc}${esc}[201~${esc}[A${esc}x`);
    const before = program.stdout.length;
    await expect
      .poll(() => program.stdout.slice(before), { timeout: 15_000 })
      .toMatch(/Esc cancels[\s\S]*Esc cancels/);
    expect(program.stdout).not.toContain("cancelled");
    program.write(esc);
    expect(await program.ended).toMatchObject({ code: 130, stdout: expect.stringContaining("○ cancelled") });
  });

  it("a second Ctrl-C ends it at once, and leaves the terminal as it was", async () => {
    const cwd = await makeWorkspace();
    const program = startInTerminal(command("echo $((40+2)); trap '' INT TERM; sleep 60"), { cwd });
    await program.sees(/42[\s\S]*Esc cancels/);
    program.write(ctrlC + ctrlC);
    const { code, stdout } = await program.ended;
    expect(code).toBe(130);
    expect(stdout.lastIndexOf(`${esc}[?2004l`)).toBeGreaterThan(stdout.lastIndexOf(`${esc}[?2004h`));
  });

  const startInShell = async (args: readonly string[], cwd?: string) => {
    const env = { TERM: "xterm-256color", SHELL: "/bin/sh", PS1: "shell> " };
    const bash = "stty cols 200; exec bash --norc --noprofile -i";
    const shell = startProgram("script", ["-qfec", bash, "/dev/null"], {
      cwd: cwd ?? (await makeWorkspace()),
      env,
    });
    await shell.sees(/shell> /);
    shell.write(`${[process.execPath, binPath, ...args.map((word) => `'${word}'`)].join(" ")}\r`);
    return shell;
  };

  it("Ctrl-Z stops it, and its work goes on in the background", async () => {
    const shell = await startInShell(command("sleep 1"));
    await shell.sees(/Esc cancels/);
    shell.write(ctrlZ);
    await shell.sees(/Stopped/);
    shell.write("bg\r");
    await shell.sees(/✓ done[\s\S]*to go on:/);
    shell.write("fg; echo all $?; exit\r");
    expect((await shell.ended).stdout).toMatch(/all 0/);
  });

  it("Ctrl-Z at a question stops it, and the question is there again in the foreground", async () => {
    const shell = await startInShell(["run", "--no-policy", "run the command: echo $((40+2))"]);
    await shell.sees(/leave it waiting/);
    shell.write(ctrlZ);
    await shell.sees(/Stopped/);
    shell.write("fg\r");
    await shell.sees(/Stopped[\s\S]*leave it waiting/);
    shell.write("y");
    await shell.sees(/✓ done[\s\S]*to go on:/);
    shell.write("echo all $?; exit\r");
    expect((await shell.ended).stdout).toMatch(/all 0/);
  });

  it("a question that was answered elsewhere while it was stopped is not there again", async () => {
    const server = await serveSocket();
    const { endpoint, cwd } = server;
    const client = await SocketClient.connect(server);
    const shell = await startInShell(["run", "--attach", endpoint, "run the command: sleep 2"], cwd);
    await shell.sees(/leave it waiting/);
    const { params } = await client.notified("approval.requested");
    shell.write(ctrlZ);
    await shell.sees(/Stopped/);
    const before = shell.stdout.length;
    await client.peer.request("approval.respond", { requestId: params.requestId, decision: "once" });
    shell.write("fg\r");
    await shell.sees(/✓ done[\s\S]*to go on:/);
    expect(shell.stdout.slice(before)).toContain("approved once");
    expect(shell.stdout.slice(before)).not.toContain("leave it waiting");
    shell.write("exit\r");
    await shell.ended;
  });

  it("Ctrl-Z, bg and fg leave harness chat a keyboard for the next message", async () => {
    const shell = await startInShell(["chat", "--no-policy", "--no-hub"]);
    await shell.sees(/› /);
    shell.write("run the command: sleep 2\r");
    await shell.sees(/leave it waiting/);
    shell.write("y");
    await shell.sees(/waiting for bash/);
    shell.write(ctrlZ);
    await shell.sees(/Stopped/);
    shell.write("bg; fg\r");
    await shell.sees(/ended with exit code 0[\s\S]*› /);
    shell.write("read README.md\r");
    await shell.sees(/A small demo/);
    shell.write("/quit\r");
    await shell.sees(/to continue: harness chat/);
    shell.write("exit\r");
    await shell.ended;
  });

  it("a question that comes in the background can be answered in the foreground", async () => {
    const twice = "run the command: sleep 2, then run the command: echo $((40+2))";
    const shell = await startInShell(["run", "--no-policy", twice]);
    await shell.sees(/Allow it\?/);
    shell.write("y");
    await shell.sees(/approved once[\s\S]*Esc cancels/);
    shell.write(ctrlZ);
    await shell.sees(/Stopped/);
    shell.write("bg\r");
    await shell.sees(/with your rights[\s\S]*with your rights/);
    // A shell that does not know yet that its job was stopped does not continue it.
    shell.write("wait %1; fg\r");
    await shell.sees(/leave it waiting[\s\S]*leave it waiting/);
    shell.write("y");
    await shell.sees(/✓ done[\s\S]*to go on:/);
    shell.write("echo all $?; exit\r");
    expect((await shell.ended).stdout).toMatch(/all 0/);
  });
});

it("Ctrl-D at a prompt ends its line", async () => {
  const chat = startAtTerminal(["chat", "--no-policy"], { cwd: await makeWorkspace() });
  await chat.sees(/› /);
  chat.write("\u0004");
  const { code, stdout } = await chat.ended;
  expect(code).toBe(0);
  expect(stdout).toMatch(/\n[^\n›]*to continue: harness chat/);
});

it.each([
  ["waits for a message", /› /, undefined],
  ["works", /waiting for bash/, "run the command: sleep 60\r"],
])("SIGTERM ends harness chat while it %s", async (_, shown, line) => {
  const chat = startAtTerminal(["chat", "--no-policy", "--no-hub"], { cwd: await makeWorkspace() });
  await chat.sees(/› /);
  if (line !== undefined) {
    chat.write(line);
    await chat.sees(/leave it waiting/);
    chat.write("y");
  }
  await chat.sees(shown);
  chat.kill("SIGTERM");
  expect(await chat.ended).toMatchObject({
    code: 130,
    stdout: expect.stringContaining("to continue: harness chat"),
  });
});

it("what is said after Ctrl-C begins a line of its own, behind the ^C of the terminal", async () => {
  const engine = startAtTerminal(["engine", "--no-auth"], { cwd: await makeWorkspace() });
  await engine.sees(/listening on/);
  engine.write(ctrlC);
  const { code, stdout } = await engine.ended;
  expect(code).toBe(130);
  expect(stdout).toMatch(/\n\r?\nharness engine: /);
});

it("a reader that is gone is not Ctrl-C: no empty line is written", async (context) => {
  if (!hasPseudoTerminal()) context.skip(withoutPseudoTerminal);
  const line = ["run", "--no-policy", "--no-hub", "--json", "list files"];
  const program = startInTerminal(line, { cwd: await makeWorkspace(), redirection: "| head -1" });
  const { stdout } = await program.ended;
  expect(stdout).toContain("turn.started");
  expect(stdout).not.toMatch(/\n\r?\n/);
});

it("Ctrl-Z in a terminal without a shell, where nothing stops, leaves the keyboard as it was", async (context) => {
  if (!hasPseudoTerminal()) context.skip(withoutPseudoTerminal);
  const program = startInTerminal(["chat", "--no-hub"], { cwd: await makeWorkspace() });
  await program.sees(/› /);
  program.write(ctrlZ);
  // It gives the keyboard away, and takes it back.
  await program.sees(/\[\?2004l[\s\S]*\[\?2004h/);
  program.write("read README.md\r");
  await program.sees(/A small demo/);
  program.write("/quit\r");
  expect(await program.ended).toMatchObject({ code: 0 });
});

describe("while a turn of harness chat works", () => {
  it("what is sent is the next message, and no answer to a question of the turn", async () => {
    const cwd = await makeWorkspace();
    const program = startAtTerminal(["chat", "--no-hub"], { cwd });
    await program.sees(/› /);
    program.write("run the command: echo $((40+2))\rrun the command: echo $((50+3))\r");
    await program.sees(/Allow it\?/);
    expect(program.stdout).not.toContain("│ 42");
    program.write("y");
    await program.sees(/│ 42[\s\S]*› run the command: echo \$\(\(50\+3\)\)[\s\S]*Allow it\?/);
    program.write("y");
    await program.sees(/│ 53[\s\S]*› /);
    program.write("/quit\r");
    expect(await program.ended).toMatchObject({ code: 0 });
  });

  it("a paste that a question cuts off leaves a line that Enter sends", async () => {
    const program = startAtTerminal(["chat", "--no-hub"], { cwd: await makeWorkspace() });
    await program.sees(/› /);
    program.write(`run the command: echo $((40+2))\r${esc}[200~read README.md`);
    await program.sees(/Allow it\?/);
    program.write(` and more${esc}[201~`);
    await program.sees(/1 Yes, once/);
    program.write("y");
    await program.sees(/│ 42[\s\S]*› read README.md/);
    program.write("\r");
    await program.sees(/A small demo/);
    program.write("/quit\r");
    expect(await program.ended).toMatchObject({ code: 0 });
  });

  it("a command that is sent before the question is there answers nothing", async () => {
    const cwd = await makeWorkspace();
    const program = startAtTerminal(["chat", "--no-hub"], { cwd });
    await program.sees(/› /);
    program.write("run the command: echo $((40+2))\r/approve\rread README.md\r");
    await program.sees(/Allow it\?/);
    program.write("\u001b");
    await program.sees(/A small demo/);
    expect(program.stdout).not.toContain("│ 42");
    program.write("/quit\r");
    // The question was left waiting.
    expect(await program.ended).toMatchObject({ code: 3, stdout: expect.not.stringContaining("│ 42") });
  });
});
