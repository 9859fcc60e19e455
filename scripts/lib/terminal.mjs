import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { repositoryRoot } from "./root.mjs";
import { run } from "./run.mjs";

const pollMs = 100;
const timeoutMs = 120_000;
const bin = join(repositoryRoot, "apps/cli/dist/bin.cjs");
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals are driven by them
const prompt = /^((?:\u001b\[[\d;]*m)*)#(?= \w|\s*$)/gm;

/**
 * Opens a shell in tmux that finds `harness` on its PATH, with its home in `dir` and in the directory `cwd` below it, which is created and
 * shown as `~/NAME`. Returns what drives it: `frames` are the screens that it has shown, `until` waits
 * for a pattern; `answer` moves a choice up to a label and takes it.
 */
export async function openTerminal(dir, { cwd, columns, rows }) {
  const project = join(dir, cwd);
  const bins = join(dir, "bin");
  for (const folder of [project, bins]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(bins, "harness"), `#!/bin/sh\nexec '${process.execPath}' '${bin}' "$@"\n`, {
    mode: 0o755,
  });
  const tmux = async (...args) => {
    const { code, output, stdout } = await run("tmux", ["-S", join(dir, "tmux"), ...args], {
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
    return stdout.replaceAll(project, `~/${cwd}`).replaceAll(prompt, "$1$$");
  };
  const frames = [];
  const screen = async (ms = pollMs) => {
    const shown = await tmux("capture-pane", "-J", "-e", "-p", "-t", "0");
    if (frames.at(-1)?.screen !== shown) frames.push({ screen: shown, ms });
    return shown;
  };
  const until = async (pattern) => {
    for (let waited = 0; waited < timeoutMs; waited += pollMs) {
      if (pattern.test(await screen())) return;
      await sleep(pollMs);
    }
    throw new Error(`the terminal does not show ${pattern}:\n${frames.at(-1)?.screen}`);
  };
  const press = (key) => tmux("send-keys", key);
  await tmux("-f", "/dev/null", "new-session", "-d", "-x", String(columns), "-y", String(rows), "sh");
  await tmux("set-option", "-g", "status", "off");
  await until(/^\$/m);
  return {
    project,
    frames,
    until,
    press,
    type: (text) => tmux("send-keys", "-l", text),
    async answer(label, ms = pollMs) {
      for (let key = 0; key < 4 && !(await screen(ms)).match(new RegExp(`●[^\\n]*${label}`)); key++) {
        await press("Up");
        await sleep(pollMs);
      }
      frames.at(-1).ms = 1500;
      await press("Enter");
    },
    close: () => tmux("kill-server"),
  };
}
