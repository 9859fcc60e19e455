// Records the first use of the conformance suite, by the commands of its README: the packed tarballs in an empty directory, npm,
// and a thread server in Python with three mistakes that is mended. Writes docs/conformance-session.md.
// node scripts/record-conformance.mjs
import { mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pnpm } from "./lib/pnpm.mjs";
import { repositoryRoot } from "./lib/root.mjs";
import { run, stopChildrenOnSignals } from "./lib/run.mjs";
import { withTempDir } from "./lib/temp.mjs";

const needed = ["conformance", "protocol", "wire"];
const introduction = `# A recorded first use of the conformance suite

The commands of [its README](../conformance/README.md) in an empty directory, with the packed package and Python: the server that comes
with the package conforms, one with three mistakes does not, and is mended. \`node scripts/record-conformance.mjs\` records this page anew.
The durations are those of a busy machine with two cores.

`;

let session = "";
const write = (text) => {
  process.stdout.write(text);
  session += text;
};

/** Runs a command line as a user types it; writes it with its output, exit code and duration. Throws for another exit code. */
const type = async (cwd, line, { code: wanted = 0, shown = line } = {}) => {
  const { code, output, ms } = await run("bash", ["-c", line], {
    cwd,
    env: { npm_config_update_notifier: "false" },
  });
  const text = output.replaceAll(cwd, "~/try").trimEnd();
  write(`$ ${shown}\n${text}${text === "" ? "" : "\n"}[exit code ${code}, ${(ms / 1000).toFixed(1)} s]\n\n`);
  if (code !== wanted) throw new RangeError(`${line}: exit code ${code}, not ${wanted}`);
};

/** The commands of the README's first section, but for the first, which installs. */
const quickStart = () => {
  const [, section = ""] = readFileSync(join(repositoryRoot, "conformance/README.md"), "utf8").split(/^## /m);
  const blocks = [...section.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, text]) =>
    text.trim().split("\n"),
  );
  return blocks.flat().slice(1);
};

/** What the user changes in the server: a mistake, and the requirement that notices it. */
const mistakes = [
  ["Refused(-32002,", "Refused(-32099,", "THR-50", "another code for a busy thread"],
  ['if decision == "reject":', 'if decision == "rejected":', "THR-14", "a rejected call runs"],
  [
    'self.end(running, "cancelled" if running.is_cancelled else "completed")',
    'self.end(running, "completed")',
    "THR-7",
    "a cancelled turn ends as completed",
  ],
];

/** Replaces text of a file as an editor does, and writes that down. */
const edit = (file, from, to, why) => {
  const text = readFileSync(file, "utf8");
  if (!text.includes(from)) throw new RangeError(`${file} does not contain ${from}`);
  writeFileSync(file, text.replace(from, to));
  write(`# ${why}: ${from} → ${to}\n`);
};

stopChildrenOnSignals();
await withTempDir(join(realpathSync(tmpdir()), "conformance-session-"), async (dir) => {
  const filters = needed.flatMap((name) => ["--filter", `@harnesskit/${name}`]);
  const packed = await pnpm(["-r", ...filters, "pack", "--pack-destination", dir]);
  if (packed.code !== 0) throw new RangeError(packed.output);
  const tarballs = readdirSync(dir).filter((name) => name.endsWith(".tgz"));
  const cwd = join(dir, "try");
  mkdirSync(cwd);
  const started = performance.now();
  const install = `npm install --no-fund --no-audit ${tarballs.map((name) => join(dir, name)).join(" ")}`;
  await type(cwd, install, { shown: `npm install ${tarballs.map((name) => `./${name}`).join(" ")}` });
  const judge = (file, more = "") =>
    `npx harnesskit-conformance threads-server --stdio 'python3 ${file}'${more === "" ? "" : ` ${more}`}`;
  for (const line of quickStart()) await type(cwd, line, { code: line === judge("broken.py") ? 1 : 0 });
  write(`# ${((performance.now() - started) / 1000).toFixed(0)} s since the start\n\n`);

  await type(cwd, "cp thread_server.py my_server.py");
  const mine = join(cwd, "my_server.py");
  for (const [right, wrong, , why] of mistakes) edit(mine, right, wrong, why);
  await type(cwd, judge("my_server.py", "--quiet --seed 7 --junit report.xml --html report.html"), {
    code: 1,
  });
  await type(cwd, "ls; grep -c '<testcase' report.xml; grep -cE '(src|href)=' report.html || true");

  for (const [right, wrong, id] of mistakes.slice(0, 2)) {
    edit(mine, wrong, right, "mended");
    await type(cwd, judge("my_server.py", `--quiet --only ${id}`));
  }
  const [[, , known] = []] = mistakes.slice(2);
  const entry = `expected:\\n  - { id: ${known}, reason: to be mended, suite: threads-server }\\n`;
  await type(cwd, `printf '${entry}' > expected.yaml`);
  await type(cwd, judge("my_server.py", `--quiet --only ${known} --expected expected.yaml`));
  const [right, wrong] = mistakes[2];
  edit(mine, wrong, right, "mended");
  await type(cwd, judge("my_server.py", `--quiet --only ${known} --expected expected.yaml`), { code: 1 });
  await type(cwd, "rm expected.yaml");
  await type(cwd, judge("my_server.py", "--quiet"));
  write(`# ${((performance.now() - started) / 1000).toFixed(0)} s since the start\n`);
});
writeFileSync(
  join(repositoryRoot, "docs/conformance-session.md"),
  `${introduction}\`\`\`text\n${session}\`\`\`\n`,
);
