// How long it takes to import the main entry of each package, beside zod, each in a new process.
// Usage: node bench/import.mjs [--rounds 9] [--only wire,agent-sdk]
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { inRounds, median, optionsFrom, printTable, times } from "./lib/rounds.mjs";

const { rounds, only } = optionsFrom({ rounds: 9, only: "" });
const packages = fileURLToPath(new URL("../packages/", import.meta.url));

const importer = (name, url) => ({
  name,
  measure() {
    const program = `const at = performance.now(); await import(${JSON.stringify(url)}); console.log(performance.now() - at);`;
    return Number(
      execFileSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" }),
    );
  },
});

const contenders = [
  importer("zod", import.meta.resolve("zod")),
  ...readdirSync(packages)
    .filter((name) => only === "" || only.split(",").includes(name))
    .map((name) => [name, `${packages}${name}/dist/index.js`])
    .filter(([, path]) => existsSync(path))
    .map(([name, path]) => importer(name, pathToFileURL(path).href)),
];

const figures = await inRounds(contenders, rounds, ({ measure }) => measure());
printTable(
  ["import", "ms", "of zod"],
  contenders.map(({ name }) => [name, median(figures.get(name)).toFixed(0), times(figures, name, "zod")]),
);
