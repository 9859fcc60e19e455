import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { repositoryRoot } from "./lib/root.mjs";
import { withTempDir } from "./lib/temp.mjs";
import { openTerminal } from "./lib/terminal.mjs";
import { terminalSvg } from "./lib/terminal-svg.mjs";

// node scripts/record-terminal.mjs: records a real run with an approval in tmux, and writes it as docs/public/run.svg.

const columns = 88;
const rows = 27;

await withTempDir(join(tmpdir(), "hk-"), async (dir) => {
  const terminal = await openTerminal(dir, { cwd: "shop", columns, rows });
  const { project, frames, until } = terminal;
  try {
    writeFileSync(join(project, "notes.txt"), "Raise the price after the sale.\n");
    writeFileSync(join(project, "price.mjs"), 'console.log("the price is 12");\n');
    await terminal.type('harness run "read notes.txt, then run the command: node price.mjs"');
    await until(/price\.mjs"/);
    frames.at(-1).ms = 1500;
    await terminal.press("Enter");
    await until(/Allow it\?[\s\S]*(?:●|>)/);
    frames.at(-1).ms = 3500;
    await terminal.answer("Yes, once", 800);
    await until(/threads show[\s\S]*\$\s*$/);
    frames.at(-1).ms = 6000;
  } finally {
    await terminal.close();
  }
  const title = "harness run: an agent asks before it runs a command, and goes on after the answer";
  writeFileSync(join(repositoryRoot, "docs/public/run.svg"), terminalSvg(frames, { columns, rows, title }));
  process.stdout.write(`docs/public/run.svg: ${frames.length} frames\n`);
});
