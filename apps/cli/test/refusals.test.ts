import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { hubPlace } from "@harnesskit/hub/place";
import { expect, it, onTestFinished } from "vitest";
import { helloAgent } from "./support/agents.ts";
import { makeWorkspace } from "./support/harness.ts";
import { harness, startAtTerminal } from "./support/in-process.ts";

const workspaceAgent = fileURLToPath(new URL("../../workspace-agent", import.meta.url));

const files = {
  "bad.yaml": "version: 3\n",
  "g.json": '{"version":1,"grants":[{"agent_id":"a"}]}',
  "opensentience.agent.json": '{"id":"a","version":"1.0.0"}',
};
const hello = `core --agent '${helloAgent}'`;
const greet = `${hello} --call com.example.hello/greet`;
const grant = "core grant com.example.made";

it.each([
  [2, "frobnicate", "unknown command"],
  [2, "run", "The prompt is empty"],
  [2, "run ''", "The prompt is empty"],
  [2, "attach", "missing required argument"],
  [2, "run two words", "too many arguments"],
  [2, "run two words", "Put quotes around several words"],
  [2, "run x --aprove once", "Did you mean --approve?"],
  [2, "run x --approve maybe", "Allowed choices are ask, once, reject"],
  [2, "run x --model acme:m", "a model is written as one of"],
  [2, "run x --cwd /does/not/exist", "does not exist"],
  [2, `run x --cwd '${import.meta.filename}'`, "is not a directory"],
  [2, "threads list --cwd /does/not/exist", "does not exist"],
  [2, "threads shwo", "unknown command"],
  [2, "threads list two", "unknown command 'two'"],
  [2, "threads --jsno", "Did you mean --json?"],
  [2, "threads show", "missing required argument"],
  [2, "threads cost --since yesterday", "is not an age"],
  [2, "threads cost --by colour", "Allowed choices"],
  [2, "threads prune", "--older-than"],
  [2, "threads prune --older-than soon", "--older-than: soon is not an age"],
  [2, "threads prune --older-than 1d --keep -1", '--keep must be a whole number from 0, got "-1"'],
  [2, "doctor --jsno", "Did you mean --json?"],
  [2, "--cwd", "unknown option"],
  [2, "store check", "--store"],
  [2, "store check --store chats.sqlite", "must be a database"],
  [1, "grants revoke nope", "See what there is: harness grants list\n"],

  [2, "serve --policy p.yaml --ahp unix:x", "--ahp cannot be used with --policy"],
  [2, "serve --ahp-token-file t", "are about the harness of --ahp"],
  [2, "serve --ahp-api-key-file k", "are about the harness of --ahp"],
  [2, "serve --ahp http://127.0.0.1:1 --ahp-token-file README.md", "holds no token"],
  [2, "serve --policy-timeout 0", "--policy-timeout takes 0.1 to 600 seconds"],
  [2, "serve --policy-timeout x", '--policy-timeout must be a number of seconds, got "x"'],
  [2, "serve --ahp ftp://x", "--ahp: ftp://x is not an endpoint"],

  [2, "ahp serve", "Say where to serve"],
  [2, "ahp serve --http x", '--http must be a number from 0 to 65535, got "x"'],
  [2, "ahp serve --http 65536", "from 0 to 65535"],
  [2, "ahp serve --unix ''", "is not an endpoint"],
  [2, `ahp serve --unix ${"x".repeat(200)}`, "choose a shorter directory"],
  [2, "ahp serve --unix README.md", "is not a socket and was left alone"],
  [2, "ahp serve --stdio --token-file t", "--token-file belongs to --http"],
  [2, "ahp serve --stdio --policy ''", "the name of the file is empty"],
  [2, "ahp serve --stdio --record-content", "--audit FILE"],
  [2, "ahp serve --stdoi", "Did you mean --stdio?"],

  [2, `${hello} --project .`, "--project belongs to --call"],
  [2, `${greet} --project nowhere`, "nowhere does not exist"],
  [1, `${greet} --input {}`, "tool.invalid_input"],
  [
    1,
    `${hello} --call com.example.hello/nope`,
    "there is no tool com.example.hello/nope: --list shows the tools",
  ],
  [2, `${greet} --input {name}`, "--input is not JSON"],
  [2, `${greet} --input '{"n":[9007199254740993]}'`, "--input: 9007199254740993 "],
  [2, `${hello} --input {}`, "--input belongs to --call"],
  [2, `${greet} --timeout 0`, "--timeout"],
  [2, `${greet} --list`, "do not go together"],
  [2, `${hello} --list --directive`, "--directive belongs to --call"],
  [2, "core --agent /var --list", "opensentience.agent.json"],
  [2, "core --agent . --list", "command"],
  [
    1,
    `core --agent '${workspaceAgent}' --call harnesskit.workspace/read --input '{"path":"a"}'`,
    "name it with --project DIR",
  ],
  [2, "core gran com.example.made x", "--agent"],
  [2, `${grant} fs.re\u0430d --no-audit`, "permission"],
  [2, "core grant 'no agent' x --no-audit", "agent_id"],
  [2, `${grant} x --until 2020-01-01T00:00:00Z`, "--until"],
  [2, `${grant} x --caller ada`, "--caller must be TYPE:ID"],
  [4, "core grants --file g.json", "g.json is wrong at grants.0.id"],

  [2, "agents install mcp:", "needs a command or a URL"],
  [4, "agents install mcp:/no/such/program --start", "was not found"],
  [2, "agents install mcp:http://example.com/mcp --start", "https:"],
  [2, "agents install mcp:https://u:secret-pw@example.com/mcp --start", "user or password"],
  [
    2,
    "agents install mcp:https://example.com/mcp --header 'authorization: Bearer secret-pw'",
    "--header takes",
  ],
  [4, "agents install 'mcp:node x.mjs' --env NOT_SET_AT_ALL --start", "NOT_SET_AT_ALL"],
  [2, "agents install /var", "does not exist: pass the directory of an agent"],
  [2, "agents install no-such-place", "mcp:COMMAND"],
  [2, "run x --agents no-such-place", "mcp:COMMAND"],

  [2, "hub --notify none.yaml", "ENOENT"],
  [2, "hub --notify bad.yaml", "version"],
  [2, "hub --public-url hub.example.org", "--public-url"],
  [2, "hub --public-url https://example.org/hub", "without a path"],
  [2, "hub --pair", "--pair needs a hub with TLS"],
  [2, "hub --may look", "--may and --up-to belong to --pair"],
  [2, "hub --pair --may look --up-to low", "--up-to belongs to --may answer"],
  [2, `hub --pair ${"x".repeat(65)}`, "1 to 64 characters"],
  [2, "hub --tls-cert c.pem", "belong together"],
  [2, "hub --tls-cert c.pem --tls-key k.pem", "--public-url https://NAME:PORT"],
  [2, "hub --tls-cert c.pem --tls-key k.pem --public-url https://localhost:7443", "ENOENT"],
  [2, "timeline --since soon", "is not an age"],
  [4, "timeline", "harness hub"],

  [2, "guard init --agent emacs", "unknown host emacs"],
  [2, "guard init --wait 1", "--wait must be a number of seconds from 5 to 86400"],
  [2, "guard init --agent codex --command ' ' --yes", "--command is empty"],
  [2, "guard mcp", "Name the MCP server"],
  [2, "guard mcp --name a__b -- x", "is not a name"],
  [4, "guard mcp -- /no/such/server", "was not found"],
  [4, "guard acp -- /no/such/agent", "was not found"],
  [2, "guard mcp --url nowhere", "--url: "],
  [2, "guard mcp --url http://example.com/mcp", "must begin with https:"],
  [2, "guard mcp --url https://example.com/mcp --header a=NO_SUCH_VARIABLE", "NO_SUCH_VARIABLE is not set"],
  [1, "guard tools --accept sha256:0", "no tool with the digest sha256:0 waits"],

  [4, "audit verify nowhere.jsonl", "nowhere.jsonl: there is no audit log at the path"],
  [4, "audit show nowhere.jsonl", "nowhere.jsonl: there is no audit log at the path"],
  [2, "audit verify README.md --expect 1:2", "not the head"],
  [1, "audit show README.md", "README.md:1 is not an entry"],
  [1, "audit show README.md", "For details: harness audit verify README.md\n"],
  [2, "ahp check --policy default --agent emacs nowhere.json", "--agent: unknown host emacs"],
  [2, "store copy sqlite:nowhere.db postgres://127.0.0.1:1/x", "nowhere.db does not exist"],
  [2, "store copy files:nowhere postgres://127.0.0.1:1/x", "nowhere does not exist"],
])("exit code %i and what is wrong: harness %s", async (code, line, text) => {
  const cwd = await makeWorkspace(files);
  const env = { XDG_STATE_HOME: join(cwd, "state"), BROWSER: "" };
  const end = await harness(line, { cwd, env });
  expect(end).toMatchObject({ code, stdout: "", stderr: expect.stringContaining(text) });
  expect(end.stderr).not.toMatch(/\n\s+at |secret-pw/);
});

it.each([
  [2, "timeline --json --csv", "usage", "Give --json or --csv", []],
  [2, "threads list --json --nope", "usage", "unknown option '--nope'", []],
  [1, "run x --json --thread nope", "thread_not_found", "There is no thread nope", undefined],
  [4, "inbox --json", "hub_unavailable", "no hub runs", [expect.stringMatching(/: harness hub --open$/)]],
])("exit code %i, and the failure as JSON: harness %s", async (exitCode, line, code, message, hint) => {
  const cwd = await makeWorkspace(files);
  const end = await harness(line, { cwd, env: { XDG_STATE_HOME: join(cwd, "state") } });
  expect(end).toMatchObject({ code: exitCode, stderr: expect.stringContaining(message) });
  const { error, data } = JSON.parse(end.stdout);
  if (hint === undefined) expect(data).toMatchObject({ status: "error", code, exitCode });
  else expect(error).toEqual({ code, message: expect.stringContaining(message), hint, exitCode });
});

it("says of a hub that is stopped that it does not answer, and what to do", async () => {
  const cwd = await makeWorkspace(files);
  const env = { XDG_STATE_HOME: join(cwd, "state") };
  const { directory, socket, apiSocket } = hubPlace({ env });
  await mkdir(directory, { recursive: true, mode: 0o700 });
  // As of a process with SIGSTOP: connections are taken, and nothing is read.
  for (const path of [socket, apiSocket]) {
    const server = createServer((connection) => connection.pause().on("error", () => {}));
    await once(server.listen(path), "listening");
    onTestFinished(() => void server.close());
  }
  const end = await harness("inbox", { cwd, env });
  expect(end).toMatchObject({ code: 4, stderr: expect.stringContaining("does not answer") });
  expect(end.stderr).toContain("kill -CONT");
});

it("repeats no password of a URL", async () => {
  const cwd = await makeWorkspace(files);
  const env = { XDG_STATE_HOME: join(cwd, "state"), HARNESS_DEBUG: "1" };
  for (const password of ["secret-pw", "a/secret-pw", "a#secret-pw"]) {
    const end = await harness(`run x --agents mcp:https://me:${password}@127.0.0.1:1/mcp`, { cwd, env });
    expect(end.code).not.toBe(0);
    expect(end.stderr).toContain("--agents mcp:https://…@127.0.0.1:1/mcp");
    expect(end.stdout + end.stderr).not.toContain("secret-pw");
  }
});

it("keeps a command whole at a narrow terminal, below what it is for", async () => {
  const cwd = await makeWorkspace(files);
  const end = await startAtTerminal(`attach unix:${cwd}/none.sock`, { cwd, columns: 50 }).ended;
  expect(end.code).toBe(4);
  expect(end.stdout).toContain(`\n  Start one there:\n    harness serve --listen unix:${cwd}/none.sock\n`);
});

it("indents what follows of a long line of a log", async () => {
  const cwd = await makeWorkspace(files);
  await harness(`${greet} --input '{"name":"Ada"}' --audit log.jsonl`, { cwd });
  const { stdout } = await startAtTerminal("audit show log.jsonl", { cwd, columns: 60 }).ended;
  expect(stdout.trimEnd().split("\n")).toSatisfy((lines: string[]) =>
    lines.every((text) => /^(?:\d+ {2}\d{4}-| {4}\S)/.test(text)),
  );
});
