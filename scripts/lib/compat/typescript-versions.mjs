import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { npmInstall, versionIn } from "../npm-install.mjs";
import { typeProblems, writeTypeProjects } from "../packages/types.mjs";

const versions = ["5.9", "6", "7"];

/** `tsconfig.beside.nodenext.json` is `beside nodenext`: beside optional peers. */
const titleOf = (config) => config.split(".").slice(1, 3).join(" ");

/**
 * Compiles an import of every entry with each version of TypeScript and each way of resolving modules, declarations of dependencies
 * included. Adds what fails to `findings`; returns a table's head and rows.
 */
export async function tryTypeScriptVersions(dir, tools, consumers, findings) {
  const { alone, beside } = writeTypeProjects(dir, consumers);
  for (const config of [alone[0], beside[0]]) {
    // Node's older rules: an ES module cannot be required.
    const { compilerOptions, files: all } = JSON.parse(readFileSync(join(dir, config), "utf8"));
    const files = all.filter((file) => file.endsWith(".mts"));
    const node16 = { ...compilerOptions, module: "node16", moduleResolution: "node16" };
    writeFileSync(
      join(dir, config.replace("nodenext", "node16")),
      JSON.stringify({ compilerOptions: node16, files }),
    );
  }
  const projects = [
    ...alone,
    alone[0].replace("nodenext", "node16"),
    ...beside,
    beside[0].replace("nodenext", "node16"),
  ];
  const rows = [];
  for (const range of versions) {
    const modules = await npmInstall(join(tools, `typescript-${range}`), [`typescript@${range}`]);
    const version = versionIn(modules, "typescript");
    const row = [version];
    for (const config of projects) {
      const failed = await typeProblems(dir, config, join(modules, "typescript"));
      row.push(failed.length === 0 ? "ok" : `${failed.length} failed`);
      findings.push(...failed.slice(0, 5).map((line) => `TypeScript ${version}, ${line}`));
    }
    rows.push(row);
  }
  return [["TypeScript", ...projects.map(titleOf)], rows];
}
