import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { npmInstall, versionIn } from "../npm-install.mjs";
import { loadEntries } from "../packages/consumers.mjs";
import { entriesOf } from "../packages/outside.mjs";
import { mapLimit, run } from "../run.mjs";

/** The floor, and the newest of each major version. Binaries are in the npm registry. */
const versions = ["20.19", "22", "24"];
const timeoutMs = 60_000;

/** The AI SDK 7 asks for Node 22. */
const runsOn = ({ name }, version) => !(name.endsWith("-and-other") && version.startsWith("20"));

/**
 * Loads every entry with `import` and with `require`, and runs every README's program, on each version of Node. Adds what fails to
 * `findings`; returns a table's head and rows.
 */
export async function tryNodeVersions(dir, tools, consumers, findings) {
  const rows = [];
  for (const range of versions) {
    const name = `node-${process.platform}-${process.arch}`;
    const modules = await npmInstall(join(tools, `node-${range}`), [`${name}@${range}`]);
    const version = versionIn(modules, name);
    const program = join(modules, name, "bin/node");
    const chosen = consumers.filter((consumer) => runsOn(consumer, version));
    const loaded = entriesOf(chosen);
    const failed = (await loadEntries(dir, loaded, program)).map((text) => `Node ${version}: ${text}`);
    const programs = chosen.filter((consumer) => consumer.program !== undefined);
    await mapLimit(programs, 2, async ({ name, program: { name: file, code: text } }) => {
      writeFileSync(join(dir, name, file), text);
      const { code, output } = await run(program, [file], { cwd: join(dir, name), timeoutMs });
      if (code !== 0) failed.push(`Node ${version}: ${name}/${file} ends with ${code}\n  ${output.trim()}`);
    });
    const entries = loaded.reduce((sum, { specifiers }) => sum + specifiers.length, 0);
    rows.push([version, entries, programs.length, failed.length === 0 ? "ok" : `${failed.length} failed`]);
    findings.push(...failed);
  }
  return [["Node.js", "entries loaded by `import` and `require`", "README programs run", ""], rows];
}
