import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { typeProblems, writeTypeProjects } from "../packages/types.mjs";
import { installTool } from "../tool.mjs";

const versions = ["5.9", "6", "7"];

/**
 * Compiles an import of every entry with each version of TypeScript and each way of resolving modules, declarations of dependencies
 * included. Adds what fails to `findings`; returns a row for each version and project.
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
    const { folder, version } = await installTool(tools, "typescript", range);
    for (const config of projects) {
      const failed = await typeProblems(dir, config, folder);
      rows.push({ version, project: config.replace(/^tsconfig\.|\.json$/g, ""), failed: failed.length });
      findings.push(...failed.slice(0, 5).map((line) => `TypeScript ${version}, ${line}`));
    }
  }
  return rows;
}
