import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "../root.mjs";

const page = join(repositoryRoot, "docs/rehearsal.md");
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
 * Writes a table of docs/rehearsal.md, `packages` or `pages`: what was installed and run, how long that took, and the last line
 * that it printed.
 */
export function writeLog(mark, { version, dir, tried }) {
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
  const lines = [head, head.map(() => "---"), ...rows].map((row) => `| ${row.join(" | ")} |`);
  const text = readFileSync(page, "utf8");
  const [before, rest] = text.split(`<!-- ${mark} -->`);
  const after = rest.split(`<!-- end of ${mark} -->`)[1];
  const said = `Version ${version}, Node.js ${process.version}:`;
  writeFileSync(
    page,
    `${before}<!-- ${mark} -->\n\n${said}\n\n${lines.join("\n")}\n\n<!-- end of ${mark} -->${after}`,
  );
}
