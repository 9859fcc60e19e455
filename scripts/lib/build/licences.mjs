import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const licenceFile = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i;
const packageOf = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/;

const textOf = (directory) => {
  const { name, version, license } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
  const files = readdirSync(directory).filter((file) => licenceFile.test(file));
  const texts = files.sort().map((file) => readFileSync(join(directory, file), "utf8").trim());
  return [`${name} ${version} (${license ?? "see below"})`, ...texts].join("\n\n");
};

/** A plugin of the build that writes the licences of all packages that are bundled from `node_modules`, where any are, to a file beside them. */
export const licences = (fileName) => ({
  name: "licences",
  generateBundle(_, bundle) {
    const modules = Object.values(bundle).flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
    const found = modules.flatMap((id) => packageOf.exec(id)?.[1] ?? []);
    const directories = [...new Set(found)].filter((directory) =>
      existsSync(join(directory, "package.json")),
    );
    if (directories.length === 0) return;
    const texts = [...new Set(directories.map(textOf))].sort();
    const source = `${texts.join(`\n\n${"-".repeat(80)}\n\n`)}\n`;
    this.emitFile({ type: "asset", fileName, source });
  },
});
