import { join } from "node:path";
import { run } from "../run.mjs";

/** What `harness serve` and the suites are, from `tarballs` by name. */
export const dependencies = (tarballs) =>
  Object.fromEntries(["@harnesskit/conformance", "@harnesskit/cli"].map((name) => [name, tarballs[name]]));

/** Judges `harness serve` as it is shipped, in the way of conformance/contracts/README.md, both installed in `dir`. Returns findings. */
export async function check(dir) {
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
