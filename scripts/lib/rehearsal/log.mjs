import { toTable } from "../marked-table.mjs";

const seconds = (ms) => (ms === undefined ? "" : (ms / 1000).toFixed(1));
const maxLength = 80;

/** The last line that a program printed, without what differs from run to run. */
function lastLine(output, dir) {
  const lines = (output ?? "").replaceAll(dir, "…").split("\n");
  const said = lines.map((text) => text.trim()).filter((text) => /\w/.test(text) && !text.startsWith("npm "));
  const line = said.at(-1) ?? "";
  const cut = line.length > maxLength ? `${line.slice(0, maxLength)}…` : line;
  return cut === "" ? "" : `\`${cut.replaceAll("|", "\\|").replaceAll("`", "'")}\``;
}

/**
 * Prints the table of `packages` or `pages`: what was installed and run, how long that took, and the last line
 * that it printed.
 */
export function printLog(mark, { version, dir, tried }) {
  const head = [
    mark === "packages" ? "package" : "page",
    "installed in, s",
    "ran",
    "for, s",
    "and printed last",
  ];
  const rows = tried.map(({ name, installMs, program, ms, output }) => [
    name,
    seconds(installMs),
    program ?? "",
    seconds(ms),
    lastLine(output, dir),
  ]);
  console.log(`\nVersion ${version}, Node.js ${process.version}:\n\n${toTable(head, rows)}`);
}
