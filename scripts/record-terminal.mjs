import { mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { repositoryRoot } from "./lib/root.mjs";
import { run } from "./lib/run.mjs";
import { withTempDir } from "./lib/temp.mjs";
import { terminalSvg } from "./lib/terminal-svg.mjs";

// node scripts/record-terminal.mjs: records a real run with an approval in tmux, and writes it as docs/public/run.svg.

const columns = 88;
const rows = 27;
const pollMs = 100;
const timeoutMs = 60_000;
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals are driven by them
const prompt = /^((?:\u001b\[[\d;]*m)*)#(?= harness|\s*$)/gm;
const bin = join(repositoryRoot, "apps/cli/dist/bin.js");
const task = "read notes.txt, then run the command: node price.mjs";

await withTempDir(join(tmpdir(), "harnesskit-terminal-"), async (dir) => {
  const project = join(dir, "shop");
  const bins = join(dir, "bin");
  for (const folder of [project, bins]) mkdirSync(folder);
  writeFileSync(join(project, "notes.txt"), "Raise the price after the sale.\n");
  writeFileSync(join(project, "price.mjs"), 'console.log("the price is 12");\n');
  writeFileSync(join(bins, "harness"), `#!/bin/sh\nexec '${process.execPath}' '${bin}' "$@"\n`, {
    mode: 0o755,
  });
  const socket = join(dir, "tmux");
  const tmux = async (...args) => {
    const { code, output, stdout } = await run("tmux", ["-S", socket, ...args], {
      cwd: project,
      env: {
        HOME: dir,
        PATH: `${bins}:${process.env.PATH}`,
        PS1: "$ ",
        TERM: "xterm-256color",
        XDG_STATE_HOME: join(dir, "state"),
        ENV: "",
      },
    });
    if (code !== 0) throw new Error(`tmux ${args[0]}: ${output.trim()}`);
    return stdout;
  };
  const frames = [];
  /** What is on the screen now; kept as a frame if it is another one. */
  const look = async (ms) => {
    const screen = await tmux("capture-pane", "-e", "-p", "-t", "0");
    if (frames.at(-1)?.screen !== screen) frames.push({ screen, ms });
    return screen;
  };
  const until = async (pattern) => {
    for (let waited = 0; waited < timeoutMs; waited += pollMs) {
      const screen = await look(pollMs);
      if (pattern.test(screen)) return;
      await sleep(pollMs);
    }
    throw new Error(`the terminal does not show ${pattern}:\n${frames.at(-1)?.screen}`);
  };
  await tmux("-f", "/dev/null", "new-session", "-d", "-x", String(columns), "-y", String(rows), "sh");
  try {
    await tmux("set-option", "-g", "status", "off");
    await until(/^[$#]/m);
    const command = `harness run "${task}"`;
    await tmux("send-keys", "-l", command);
    await until(/price\.mjs"/);
    frames.at(-1).ms = 1500;
    await tmux("send-keys", "Enter");
    await until(/Allow it\?[\s\S]*(?:●|>)/);
    frames.at(-1).ms = 3500;
    // The question begins at "No".
    for (let key = 0; key < 4 && !/●[^\n]*Yes, once/.test(await look(800)); key++) {
      await tmux("send-keys", "Up");
      await sleep(pollMs);
    }
    frames.at(-1).ms = 1500;
    await tmux("send-keys", "Enter");
    await until(/threads show[\s\S]*[$#]\s*$/);
    frames.at(-1).ms = 6000;
  } finally {
    await tmux("kill-server");
  }
  const shown = frames.map(({ screen, ms }) => ({
    ms,
    screen: screen.replaceAll(project, "~/shop").replaceAll(prompt, "$1$$"),
  }));
  const title = "harness run: an agent asks before it runs a command, and goes on after the answer";
  writeFileSync(join(repositoryRoot, "docs/public/run.svg"), terminalSvg(shown, { columns, rows, title }));
  process.stdout.write(`docs/public/run.svg: ${shown.length} frames\n`);
});
