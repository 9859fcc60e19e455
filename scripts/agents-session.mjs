// Records a conversation with two agents of others, one in Python and one an MCP server: real processes, the offline model,
// no network. Writes docs/agents-session.md. Usage: npm run record-agents
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const here = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url));
const binPath = here("apps/cli/dist/bin.js");
const server = here("packages/mcp-agent/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js");

const home = mkdtempSync(join(tmpdir(), "agents-session-"));
const state = join(home, "state");
const cwd = join(home, "demo");
const env = { PATH: process.env.PATH, HOME: home, XDG_STATE_HOME: state, LANG: "C.UTF-8" };

let session = "";

/** Paths of this machine, as they would be on the reader's. */
const places = [
  [server, "server-filesystem.js"],
  [here("apps/cli/dist"), "/usr/lib/harness"],
  [state, "~/.local/state"],
  [home, "~"],
];
const shown = (text) => places.reduce((all, [path, name]) => all.replaceAll(path, name), text);

const word = (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text}'`);

/** Runs one command, writes it with its output and its exit code, and returns the output. `watch` gets the output so far. */
const harness = async (args, watch = () => {}) => {
  const child = spawn(process.execPath, [binPath, ...args], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  let all = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => {
      all += text;
      watch(all);
    });
  }
  const [code] = await once(child, "close");
  const status = code === 0 ? "" : `[exit code ${code}]\n`;
  const part = shown(`$ harness ${args.map(word).join(" ")}\n${all}${status}\n`);
  process.stdout.write(part);
  session += part;
  return all;
};

/** The id of the process that runs this program in an agent's directory. */
const processOf = (program) =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .find((pid) => {
      try {
        const isProgram = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(program);
        return isProgram && readlinkSync(`/proc/${pid}/cwd`).startsWith(state);
      } catch {
        return false;
      }
    });

const enable = async (source, id, ...more) => {
  const [, hash] = /^hash +(sha256:\w+)$/m.exec(await harness(["agents", "install", source, ...more])) ?? [];
  if (!hash) throw new RangeError(`${id} was not installed`);
  await harness(["agents", "enable", id, "--yes", "--hash", hash]);
};

const introduction = `# A recorded session with agents of others

Two agents that this project did not write into a conversation: a Python program, and an MCP server. Both are installed and enabled by
their hash. A call that lacks a permission is refused, the permission is granted, the call runs after an approval; an agent is killed in
the middle of a call, the turn ends and says that it is unknown how far the call came; the audit logs are verified.

\`npm run record-agents\` records this page anew: real processes, the offline model, no network. Without \`--approve once\`, \`harness run\`
asks at the terminal. What the commands mean: [agents](agents.md), [runtime](runtime.md).

`;

const run = (prompt, watch) => harness(["run", "--approve", "once", prompt], watch);

try {
  mkdirSync(join(cwd, "notes"), { recursive: true });
  const agent = join(home, "python-agent");
  mkdirSync(agent);
  for (const file of ["runtime_agent.py", "opensentience.agent.json"])
    copyFileSync(here(`conformance/peers/${file}`), join(agent, file));

  await enable(agent, "conformance.agent");
  await enable(`mcp:node ${server} notes`, "mcp.files", "--id", "mcp.files", "--start");
  await harness(["agents", "list"]);

  await run('use the tool conformance.agent extra with {"text":"Ada"}');
  await harness(["core", "grant", "conformance.agent", "side_effects", "--tool", "extra", "--until", "8h"]);
  await run('use the tool conformance.agent extra with {"text":"Ada"}');
  const write = `use the tool mcp.files write_file with ${JSON.stringify({ path: join(cwd, "notes/a.txt"), content: "A" })}`;
  await run(write);
  const needed = ["side_effects", "mcp.destroy", "--tool", "write_file"];
  await harness(["core", "grant", "mcp.files", ...needed]);
  await run(write);

  let isKilled = false;
  await run('use the tool act with {"steps":[{"status":"100"},{"wait":true}]}', (output) => {
    if (isKilled || !/│ (?:status: )?100\n/.test(output)) return;
    isKilled = true;
    process.kill(Number(processOf("runtime_agent.py")), "SIGKILL");
  });

  for (const name of readdirSync(join(state, "harnesskit/audit")).sort()) {
    if (name.endsWith(".jsonl")) await harness(["audit", "verify", join(state, "harnesskit/audit", name)]);
  }
  const fence = "````";
  writeFileSync(
    here("docs/agents-session.md"),
    `${introduction}${fence}text\n${session.trimEnd()}\n${fence}\n`,
  );
} finally {
  spawn("chmod", ["-R", "u+w", state]).on("close", () => rmSync(home, { recursive: true, force: true }));
}
