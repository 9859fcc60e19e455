import { readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readMarked, writeMarked } from "./lib/marked-table.mjs";
import { repositoryRoot } from "./lib/root.mjs";
import { withTempDir } from "./lib/temp.mjs";
import { openTerminal } from "./lib/terminal.mjs";

// node scripts/record-session.mjs: records the run of docs/session.md in tmux, under the policy of that page, and writes it there.

const page = join(repositoryRoot, "docs/session.md");
const task =
  "edit price.js: replace 10 with 12, run the command: rm -rf build, run the command: git push, then run the tests";
const [, policy] = /```yaml\n([\s\S]*?)```/.exec(readFileSync(page, "utf8"));

await withTempDir(join(tmpdir(), "harnesskit-session-"), async (dir) => {
  const terminal = await openTerminal(dir, { cwd: "shop", columns: 88, rows: 120 });
  const { project, until } = terminal;
  try {
    writeFileSync(join(project, "policy.yaml"), policy);
    writeFileSync(join(project, "price.js"), "export const price = 10;\n");
    const scripts = { test: "node -e \"console.log('2 tests passed')\"" };
    writeFileSync(join(project, "package.json"), `${JSON.stringify({ name: "shop", scripts })}\n`);
    await terminal.type(`harness run --policy policy.yaml "${task}"`);
    await terminal.press("Enter");
    await until(/edit: change price\.js[\s\S]*◆[\s\S]*●[^\n]*No/);
    await terminal.answer("Yes, once");
    await until(/bash: run this command[\s\S]*◆[\s\S]*●[^\n]*No/);
    await terminal.answer("No");
    await until(/threads show ses_[\s\S]*\$\s*$/);
    await terminal.type('echo "exit code $?"; harness threads list');
    await terminal.press("Enter");
    await until(/^exit code \d[\s\S]*^ses_[^\n]*\n\$\s*$/m);
    const session = (await terminal.page()).replace(/\n\$$/, "");
    const fence = "````";
    writeMarked(page, "session", `${fence}text\n${session}\n${fence}`);
  } finally {
    await terminal.close();
  }
  process.stdout.write(`${readMarked(page, "session").trim()}\n`);
});
