// Records a session of three workers over one PostgreSQL: a conversation waits for an approval on the first one, which is killed, and goes on
// at the third. It prints what docs/chat.md shows, and writes it there with --write.
// node scripts/record-workers.mjs [--write]
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres } from "./crash/workers/postgres.mjs";
import { repositoryRoot } from "./lib/root.mjs";

const bin = join(repositoryRoot, "apps/cli/dist/bin.js");
if (!existsSync(bin)) {
  process.stderr.write("record-workers: the command is not built: npm run build\n");
  process.exit(2);
}
const server = await startPostgres();
const cwd = mkdtempSync(join(tmpdir(), "harness-record-"));
writeFileSync(join(cwd, "README.md"), "# Demo\n");
const env = { ...process.env, HARNESS_STORE: server.url };
let session = "";
const say = (text) => {
  session += `${text}\n`;
  process.stdout.write(`${text}\n`);
};

/** A worker: `harness chat` on the shared store. Its lines are shown with its number. */
const start = (number, session) => {
  const args = ["chat", "--store", "postgres:", "--session", session, "--no-installed-agents"];
  say(`[${number}] $ HARNESS_STORE=… harness ${args.join(" ")}`);
  const child = spawn(process.execPath, [bin, ...args], { cwd, env, stdio: ["pipe", "pipe", "pipe"] });
  let output = "";
  let waiting = () => {};
  let shown = 0;
  const hear = (text) => {
    output += text;
    // Text comes in pieces, and is shown in lines.
    for (let end = output.indexOf("\n", shown); end >= 0; end = output.indexOf("\n", shown)) {
      const line = output.slice(shown, end);
      shown = end + 1;
      if (line.trim() !== "") say(`[${number}] ${line.replaceAll(cwd, "~/demo")}`);
    }
    waiting();
  };
  child.stdout.setEncoding("utf8").on("data", hear);
  child.stderr.setEncoding("utf8").on("data", hear);
  const closed = once(child, "close");
  return {
    child,
    closed,
    type: (line) => child.stdin.write(`${line}\n`),
    async sees(pattern) {
      for (;;) {
        const found = pattern.exec(output);
        if (found) return found;
        await new Promise((resolve) => {
          waiting = resolve;
        });
      }
    },
  };
};

const one = start(1, "demo");
one.type("write milk.txt: two litres");
await one.sees(/\/approve \w+/);
const two = start(2, "other");
two.type("read README.md");
await two.sees(/tool results\.\n/);
say("    $ kill -9 (worker 1)");
one.child.kill("SIGKILL");
await one.closed;
const three = start(3, "demo");
const [, id] = await three.sees(/\/approve (\w+)/);
three.type(`/approve ${id}`);
await three.sees(/I wrote `milk\.txt`/);
for (const worker of [three, two]) {
  worker.child.stdin.end();
  await worker.closed;
}
say(`    $ cat milk.txt\n    ${readFileSync(join(cwd, "milk.txt"), "utf8").trimEnd()}`);
rmSync(cwd, { recursive: true, force: true });
await server.stop();

if (process.argv.includes("--write")) {
  const file = join(repositoryRoot, "docs/chat.md");
  const fence = /(recorded with `node scripts\/record-workers\.mjs[^\n]*\n\n```\n)[\s\S]*?\n(```\n)/;
  writeFileSync(
    file,
    readFileSync(file, "utf8").replace(fence, (_, begin, end) => `${begin}${session}${end}`),
  );
}
