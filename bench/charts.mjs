// Runs each bench whose figures are written by itself, one after the other, and writes what README and site show of it: bench/results/*.json, the tables of
// bench/README.md and docs/public/bench-*.svg. Takes about five minutes, on a machine that does nothing else.
// Usage: npm run charts [-- stdio runtime openharness]
import { spawn } from "node:child_process";
import { once } from "node:events";
import { loadavg } from "node:os";
import { fileURLToPath } from "node:url";

const benches = ["stdio", "runtime", "openharness"];
const wanted = process.argv.slice(2);
const unknown = wanted.find((name) => !benches.includes(name));
if (unknown !== undefined) {
  console.error(`charts: no bench of these is called "${unknown}": ${benches.join(", ")}`);
  process.exit(2);
}
const [load] = loadavg();
if (load > 0.5)
  console.error(`charts: the load of this machine is ${load.toFixed(1)}: figures of a quiet one differ`);
for (const name of benches.filter((bench) => wanted.length === 0 || wanted.includes(bench))) {
  console.log(`\n${name}\n`);
  const script = fileURLToPath(new URL(`${name}.mjs`, import.meta.url));
  const [code] = await once(spawn(process.execPath, [script, "--save"], { stdio: "inherit" }), "exit");
  if (code !== 0) process.exit(code ?? 1);
}
