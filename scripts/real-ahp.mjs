import { tmpdir } from "node:os";
import { join } from "node:path";
import { option } from "./lib/report.mjs";
import { repositoryRoot } from "./lib/root.mjs";
import { run, stopChildrenOnSignals } from "./lib/run.mjs";
import { withTempDir } from "./lib/temp.mjs";

// npm run real-ahp: builds the harness and the agent of scripts/lib/real-ahp on the Rust crate a3s-ahp with cargo (two minutes), and judges them
// by the suites ahp-server and ahp-client over standard input and output and over HTTP. Fails where the crate does not hold what expected.yaml
// does not name; what it names and holds is a note.
//   --target DIR (kept)

const crate = join(repositoryRoot, "scripts/lib/real-ahp");
const suites = [
  { suite: "ahp-server", program: "harness", transport: "stdio" },
  { suite: "ahp-server", program: "harness", transport: "http" },
  { suite: "ahp-client", program: "agent", transport: "stdio" },
  { suite: "ahp-client", program: "agent", transport: "http" },
];

async function build(target) {
  const { code, output } = await run("cargo", ["build", "--quiet"], {
    cwd: crate,
    env: { CARGO_TARGET_DIR: target },
    timeoutMs: 1_200_000,
  });
  if (code !== 0) throw new Error(`the crate cannot be built: ${output.slice(-2000)}`);
}

const targetOf = (command, { suite, transport }) =>
  suite === "ahp-server" && transport === "stdio"
    ? ["--stdio", command]
    : ["--start", command, "--on", transport, ...(suite === "ahp-server" ? ["--no-credential"] : [])];

stopChildrenOnSignals();
await withTempDir(join(tmpdir(), "real-ahp-"), async (temporary) => {
  const target = option("target", temporary);
  await build(target);
  for (const each of suites) {
    const program = join(target, "debug", each.program);
    const expected = ["--expected", join(crate, "expected.yaml"), "--within", "4000", "--quiet"];
    const args = ["conformance/dist/bin.js", each.suite, ...targetOf(program, each), ...expected];
    const { code } = await run(process.execPath, args, { cwd: repositoryRoot, inherit: true });
    if (code !== 0) process.exitCode = 1;
  }
});
