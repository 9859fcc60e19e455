import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../run.mjs";
import { buildTargets } from "../suite-targets.mjs";
import { manifestOf } from "../workspace.mjs";

/** Runs every suite against the target of its name on each transport; writes a line for each run, `ok` or what fails. */
const program = `
import { loadSuite, runSuite, suiteNames } from "@harnesskit/conformance";
import { targets } from "./targets.mjs";

for (const name of suiteNames()) {
  const suite = loadSuite(name);
  for (const transport of Object.keys(suite.role.transports)) {
    const command = \`exec '\${process.execPath}' peers.mjs \${name}\`;
    const target =
      transport === "stdio"
        ? { kind: "command", command, transport }
        : { kind: "module", start: targets[name], name, transport };
    const failures = [];
    try {
      const report = await runSuite({ suite, target, limits: { withinMs: 10_000, scenarioTimeoutMs: 50_000 } });
      for (const { id, failures: [first] } of report.requirements)
        if (first !== undefined) failures.push(\`\${id} \${first.scenario}, \${first.step}: \${first.detail}\`);
      for (const { name: scenario, problems } of report.scenarios)
        for (const problem of problems) failures.push(\`\${scenario}: \${problem}\`);
    } catch (error) {
      failures.push(String(error));
    }
    console.log(\`\${name} over \${transport}: \${failures.length === 0 ? "ok" : failures.slice(0, 3).join("; ")}\`);
  }
}
`;

/** Judges `harness serve` as it is shipped, in the way of conformance/contracts/README.md. Returns findings. */
async function checkServe(dir) {
  const installed = join(dir, "node_modules/@harnesskit");
  const server = [
    `exec node '${installed}/conformance/examples/harness-serve.mjs'`,
    `node '${installed}/cli/dist/bin.cjs' serve --no-policy --no-installed-agents`,
  ].join(" ");
  const expected = join(installed, "conformance/examples/harness-serve.expected.yaml");
  const options = ["--quiet", "--within", "5000", "--expected", expected, "--stdio", server];
  const bin = join(installed, "conformance/dist/bin.js");
  const { code, output } = await run(process.execPath, [bin, "threads-server", ...options], {
    cwd: dir,
    env: { XDG_STATE_HOME: join(dir, "state") },
    timeoutMs: 120_000,
  });
  return code === 0 ? [] : [`harness serve does not conform: ${output.trim()}`];
}

/** What the suites and the test handlers of `conformance/test` import, from `tarballs` by name. */
export function dependencies(tarballs) {
  const manifest = manifestOf("conformance");
  const names = [
    "@harnesskit/conformance",
    ...Object.keys(manifest.devDependencies),
    "@harnesskit/protocol",
    "@harnesskit/wire",
    "@harnesskit/cli",
  ];
  const ours = names.filter((name) => tarballs[name] !== undefined);
  return {
    ...Object.fromEntries(ours.map((name) => [name, tarballs[name]])),
    zod: manifest.dependencies.zod,
  };
}

/**
 * Runs the conformance suites outside of the repository: the packed suite against the packed packages, behind the test
 * handlers of `conformance/test`, and `harness serve` as it is, all of them installed in `dir`. Returns findings.
 */
export async function check(dir) {
  await buildTargets(dir);
  writeFileSync(join(dir, "suites.mjs"), program);
  const { code, stdout, output } = await run(process.execPath, ["suites.mjs"], {
    cwd: dir,
    timeoutMs: 300_000,
  });
  const lines = stdout.split("\n").filter(Boolean);
  const failed = lines.filter((line) => !line.endsWith(": ok"));
  const ended = code === 0 && lines.length > 0 ? [] : [`the suites end with ${code}: ${output.trim()}`];
  return [...failed, ...ended, ...(await checkServe(dir))];
}
