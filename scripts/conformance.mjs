import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { loadSuite, runSuite, suiteNames } from "../conformance/dist/index.js";
import { toTable, writeMarked } from "./lib/marked-table.mjs";
import { repositoryRoot } from "./lib/root.mjs";
import { buildTargets, ownTarget } from "./lib/suite-targets.mjs";
import { withTempDir } from "./lib/temp.mjs";

// node scripts/conformance.mjs: runs every suite over every transport against the packages of this repository, against the
// peers in Python over the transports that those have; writes the table of docs/conformance.md.
const peers = {
  "ahp-server": ["ahp_harness.py", "stdio", "unix", "tcp", "http"],
  "ahp-client": ["ahp_agent.py", "stdio", "unix", "tcp", "http"],
  "threads-server": ["thread_server.py", "stdio"],
  "threads-client": ["thread_client.py", "stdio", "unix"],
  "runtime-core": ["runtime_core.py", "unix", "tcp"],
  "runtime-agent": ["runtime_agent.py", "unix", "tcp"],
  "openharness-engine": ["openharness_engine.py", "stdio", "http"],
  "openharness-shell": ["openharness_shell.py", "stdio", "unix", "http"],
  chat: ["chat_adapter.py", "stdio"],
};
const limits = { withinMs: 10_000, scenarioTimeoutMs: 50_000 };

/** What passed of what was checked, and what a run leaves out. A run that does not conform ends this script, without a page. */
async function judge(suite, target, whose) {
  const report = await runSuite({ suite, target, limits });
  const { pass, fail, warn, info, unjudged } = report.counts;
  const checks = pass + fail + warn + info + unjudged;
  const unmet = report.requirements.filter(({ outcome }) => outcome !== "pass").map(({ id }) => id);
  const problems = report.scenarios.flatMap(({ name, problems: all }) =>
    all.map((text) => `${name}: ${text}`),
  );
  process.stdout.write(
    `${suite.name} over ${target.transport}, ${whose}: ${pass} passed${unmet.map((id) => `, not ${id}`).join("")}\n`,
  );
  for (const problem of problems) process.stdout.write(`  ${problem}\n`);
  if (!report.conforms) throw new Error(`${suite.name} over ${target.transport}, ${whose}, does not conform`);
  return { unmet, cell: `${pass}/${checks}` };
}

const runs = [];
const missing = new Map();
// The packages are found from a folder inside of the suite's.
await withTempDir(join(repositoryRoot, "conformance/node_modules/.table-"), async (dir) => {
  await buildTargets(dir);
  const load = (name) => import(pathToFileURL(join(dir, name)).href);
  const { targets } = await load("targets.mjs");
  for (const name of suiteNames()) {
    const suite = loadSuite(name);
    const [file, ...spoken] = peers[name];
    const command = `exec python3 -B '${join(repositoryRoot, "conformance/peers", file)}'`;
    for (const transport of Object.keys(suite.role.transports)) {
      const own = await judge(suite, ownTarget(name, transport, dir, targets), "ours");
      let cell = "–";
      if (spoken.includes(transport)) {
        const peer = await judge(suite, { kind: "command", command, transport }, "in Python");
        cell = peer.cell;
        if (peer.unmet.length > 0) missing.set(name, peer.unmet);
      }
      runs.push([`\`${name}\` ${suite.version}`, transport, own.cell, cell]);
    }
  }
});

const text = [
  toTable(["suite", "over", "ours", "Python"], runs),
  ...[...missing].map(([name, ids]) => `The peer in Python for \`${name}\` leaves out ${ids.join(", ")}.`),
].join("\n\n");
writeMarked(join(repositoryRoot, "docs/conformance.md"), "table: node scripts/conformance.mjs", text);
