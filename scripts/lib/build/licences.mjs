import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const licenceFile = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i;
const packageOf = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/;

const textOf = (directory) => {
  const { name, version, license } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
  const files = readdirSync(directory).filter((file) => licenceFile.test(file));
  const texts = files.sort().map((file) => readFileSync(join(directory, file), "utf8").trim());
  return [`${name} ${version} (${license ?? "see below"})`, ...texts].join("\n\n");
};

/** Writes the licences of all packages of `node_modules` that the inputs of a build, as paths from `from`, come from to `file`. */
export function writeLicences(from, inputs, file) {
  const found = inputs.flatMap((input) => packageOf.exec(resolve(from, input))?.[1] ?? []);
  const directories = [...new Set(found)].filter((directory) => existsSync(join(directory, "package.json")));
  const texts = [...new Set(directories.map(textOf))].sort();
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${texts.join(`\n\n${"-".repeat(80)}\n\n`)}\n`);
}
