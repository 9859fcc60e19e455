// How long it takes to import the main entry of each package, beside zod, each in a new process.
// Usage: node bench/import.mjs [--rounds 9] [--only wire,agent-sdk]
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { inRounds, median, printTable, ratio } from "./lib/rounds.mjs";

const { values } = parseArgs({
  options: { rounds: { type: "string", default: "9" }, only: { type: "string" } },
});

const packages = fileURLToPath(new URL("../packages/", import.meta.url));
const only = values.only?.split(",");

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
    .filter((name) => !only || only.includes(name))
    .map((name) => [name, `${packages}${name}/dist/index.js`])
    .filter(([, path]) => existsSync(path))
    .map(([name, path]) => importer(name, pathToFileURL(path).href)),
];

const figures = await inRounds(contenders, Number(values.rounds), ({ measure }) => measure());
printTable(
  ["import", "ms", "of zod"],
  contenders.map(({ name }) => [
    name,
    median(figures.get(name)).toFixed(0),
    `${ratio(figures, name, "zod").toFixed(2)}×`,
  ]),
);
