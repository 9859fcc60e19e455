import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadSuite, runSuite } from "../conformance/dist/index.js";
import { repositoryRoot } from "./lib/root.mjs";

// node scripts/conformance.mjs: runs every suite against the peers in Python, over each of their transports, and writes the
// table of docs/conformance.md. The packages of this repository run in the tests (npx vitest run conformance).
const peer = (name) => `exec python3 -B '${join(repositoryRoot, "conformance/peers", name)}'`;
const runs = [
  ["ahp-server", "ahp_harness.py", ["stdio", "unix", "tcp", "http"]],
  ["ahp-client", "ahp_agent.py", ["stdio", "unix", "tcp", "http"]],
  ["threads-server", "thread_server.py", ["stdio"]],
  ["threads-client", "thread_client.py", ["stdio", "unix"]],
  ["runtime-core", "runtime_core.py", ["unix", "tcp"]],
  ["runtime-agent", "runtime_agent.py", ["unix", "tcp"]],
  ["openharness-engine", "openharness_engine.py", ["stdio", "http"]],
  ["openharness-shell", "openharness_shell.py", ["stdio", "unix", "http"]],
  ["chat", "chat_adapter.py", ["stdio"]],
];
const transports = ["stdio", "unix", "tcp", "http", "ws"];

const rows = [];
for (const [name, file, over] of runs) {
  const suite = loadSuite(name);
  const cells = [];
  for (const transport of transports) {
    const isOffered = suite.role.transports[transport] !== undefined;
    if (!over.includes(transport)) {
      cells.push(isOffered ? "suite only" : "–");
      continue;
    }
    const target = { kind: "command", command: peer(file), transport };
    const { counts, conforms } = await runSuite({ suite, target, limits: { withinMs: 5000 } });
    process.stdout.write(`${name} ${transport}: ${conforms ? "conforms" : "does not conform"}\n`);
    if (!conforms) process.exitCode = 1;
    cells.push(`${counts.pass} of ${Object.values(counts).reduce((sum, count) => sum + count)}`);
  }
  rows.push(`| \`${name}\` | ${suite.version} | ${cells.join(" | ")} |`);
}

const table = [
  `| suite | version | ${transports.join(" | ")} |`,
  `|---|---|${transports.map(() => "---").join("|")}|`,
  ...rows,
].join("\n");
const page = join(repositoryRoot, "docs/conformance.md");
const begin = "<!-- table: node scripts/conformance.mjs -->\n";
const end = "<!-- end of table -->";
const text = readFileSync(page, "utf8");
const [before, rest = ""] = text.split(begin);
const after = rest.slice(rest.indexOf(end));
writeFileSync(page, `${before}${begin}\n${table}\n\n${after}`);
