import { describe, expect, it } from "vitest";
import { jsonLines, makeWorkspace } from "./support/harness.ts";
import { harness, startHarness } from "./support/in-process.ts";
import { killServer, serveProcess, serveSocket } from "./support/socket-server.ts";
import { strangeServer } from "./support/strange-server.ts";

describe("a server that is not there at the first contact", () => {
  it("ends the command at once, with a hint how to start it; with --retry-for it is waited for, and the turn is done", async () => {
    const { cwd, ...server } = await serveProcess();
    await killServer({ cwd, ...server });
    const args = ["run", "--attach", server.endpoint];
    const end = await harness([...args, "list files"], { cwd });
    expect(end).toMatchObject({ code: 4, stdout: "" });
    expect(end.stderr).toMatch(/is left over from a server that is gone/);
    expect(end.stderr).toContain(`  Start one there: harness serve --listen ${server.endpoint}\n`);
    expect(end.stderr).not.toContain("HARNESS_DEBUG");
    expect(end.stderr).not.toContain("trying again");
    const program = startHarness([...args, "--retry-for", "20", "read README.md"], { cwd, input: "" });
    await program.reports(
      /is left over from a server that is gone: .*; trying again for 20 s, Ctrl-C to stop\n/,
    );
    await serveSocket(cwd);
    const { code, stderr } = await program.ended;
    expect(code).toBe(0);
    expect(stderr).toContain("✓ done");
    expect(stderr.match(/trying again/g)).toHaveLength(1);
    expect(stderr).toContain("harness: connected to the server\n");
  });

  it.each([
    ["run", ["run", "list files", "--json", "--retry-for", "1", "--attach"]],
    ["attach", ["attach", "--json", "--retry-for", "1"]],
  ])("is given up by %s when the time is over, with exit code 4", async (_, args) => {
    const cwd = await makeWorkspace();
    const { code, stdout, stderr } = await harness([...args, "unix:none.sock"], { cwd });
    expect(code).toBe(4);
    expect(stderr).toContain("The server did not come within 1 s\n  Start one there: harness serve --listen");
    expect(stderr).not.toContain("Then go on");
    expect(jsonLines(stdout)).toMatchObject([
      { type: "result", data: { threadId: null, code: "unavailable", exitCode: 4 } },
    ]);
  });

  it("is not waited for after Ctrl-C", async () => {
    const cwd = await makeWorkspace();
    const program = startHarness(["attach", "unix:none.sock", "--retry-for", "30"], { cwd, input: "" });
    await program.reports(/trying again for 30 s/);
    program.kill("SIGINT");
    const { code, stderr } = await program.ended;
    expect(code).toBe(130);
    expect(stderr).toContain("Cancelled while the server was away");
  });

  it("is not waited for where something else lies at the path", async () => {
    const cwd = await makeWorkspace();
    const end = await harness(["attach", "unix:README.md", "--retry-for", "30"], { cwd });
    expect(end.code).toBe(4);
    expect(end.stderr).toContain("is a file of another kind");
  });
});

describe("a server that is lost in the first contact", () => {
  it("is tried again as one that is lost later", async () => {
    let contacts = 0;
    const { cwd, endpoint } = await strangeServer({
      initialize: (_, peer) => {
        if (++contacts === 1) return peer.close();
        const capabilities = {
          threads: true,
          turns: true,
          approvals: true,
          streaming: true,
          persistence: true,
        };
        return { version: "1.0.0", capabilities: { ...capabilities, extensions: { subscribe: true } } };
      },
    });
    const { code, stdout, stderr } = await harness(["attach", endpoint], { cwd });
    expect(stderr).toContain("the connection to the server is lost; trying again for 60 s, Ctrl-C to stop\n");
    expect(stderr).toContain("connected to the server\n");
    expect({ code, contacts }).toEqual({ code: 0, contacts: 2 });
    expect(stdout).toContain("Nothing has run in this thread yet");
  });
});
