// Stands before the hook's own program: appends what the host writes to the file of the first argument, and passes it on.
import { spawnSync } from "node:child_process";
import { appendFileSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const [file, ...args] = process.argv.slice(2);
const program = fileURLToPath(new URL("../../../apps/cli/dist/guard-hook.cjs", import.meta.url));
const input = args.includes("--version") ? "" : readFileSync(0, "utf8");
const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
  input,
  encoding: "utf8",
});
if (input !== "") {
  let said = input;
  try {
    said = JSON.parse(input);
  } catch {}
  appendFileSync(file, `${JSON.stringify({ said, status, stdout, stderr })}\n`);
}
process.stdout.write(stdout);
process.stderr.write(stderr);
process.exitCode = status ?? 1;
