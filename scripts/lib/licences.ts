import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Options } from "tsup";

type Plugin = NonNullable<Options["esbuildPlugins"]>[number];

const licenceFile = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i;
const packageOf = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/;

const textOf = (directory: string): string => {
  const { name, version, license } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8")) as {
    name: string;
    version: string;
    license?: string;
  };
  const files = readdirSync(directory).filter((file) => licenceFile.test(file));
  const texts = files.sort().map((file) => readFileSync(join(directory, file), "utf8").trim());
  return [`${name} ${version} (${license ?? "see below"})`, ...texts].join("\n\n");
};

/** Writes the licences of all packages that are bundled from `node_modules` to a file. */
export const licencesPlugin = (file: string): Plugin => ({
  name: "licences",
  setup(build) {
    build.initialOptions.metafile = true;
    build.onEnd(({ metafile }) => {
      const found = Object.keys(metafile?.inputs ?? {}).flatMap(
        (input) => packageOf.exec(resolve(input))?.[1] ?? [],
      );
      const directories = [...new Set(found)].filter((directory) =>
        existsSync(join(directory, "package.json")),
      );
      const texts = [...new Set(directories.map(textOf))].sort();
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, `${texts.join(`\n\n${"-".repeat(80)}\n\n`)}\n`);
    });
  },
});
