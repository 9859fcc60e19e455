import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "../root.mjs";

const seconds = (ms) => (ms === undefined ? "" : (ms / 1000).toFixed(1));
const maxLength = 80;

/** The last line that a program printed, without what differs from run to run. */
function lastLine(output, dir) {
  const lines = (output ?? "").replaceAll(dir, "…").split("\n");
  const line =
    lines.map((text) => text.trim()).findLast((text) => text !== "" && !text.startsWith("npm ")) ?? "";
  const cut = line.length > maxLength ? `${line.slice(0, maxLength)}…` : line;
  return cut === "" ? "" : `\`${cut.replaceAll("|", "\\|").replaceAll("`", "'")}\``;
}

/** Writes docs/rehearsal.md: what was published, installed and run, and how long that took. */
export function writeLog({ version, count, publishMs, tried, dir, failures }) {
  const rows = tried.map(
    ({ name, installMs, program, ms, output }) =>
      `| \`${name}\` | ${installMs === 0 ? "" : seconds(installMs)} | ${program ?? ""} | ${seconds(ms)} | ${lastLine(output, dir)} |`,
  );
  const text = `# The rehearsal of a release

Written by \`npm run rehearse\` with Node ${process.version}: the changesets made version ${version} in a clone; ${count} packages were published to a registry
on the machine in ${seconds(publishMs)} s. Each was then installed into an empty directory by the lines of its README, two at a time and with an empty cache of npm, and the README's
program was run there. ${failures === 0 ? "Nothing failed." : `${failures} of them failed.`}

| package | installed in, s | program | ran for, s | the last line that it printed |
| --- | --- | --- | --- | --- |
${rows.join("\n")}
`;
  writeFileSync(join(repositoryRoot, "docs/rehearsal.md"), text);
}
