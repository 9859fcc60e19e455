import { copyFile, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { onTestFinished } from "vitest";
import { sourceBundle } from "../../../../test-kit/source-bundle.ts";

/** The agent in Python of the conformance suite: `echo`, `act`, and `extra`, which changes things. */
export const pythonAgent = fileURLToPath(new URL("../../../../conformance/peers", import.meta.url));
const fromRoot = (path: string) => new URL(`../../../../${path}`, import.meta.url);

const sdk = pathToFileURL(await sourceBundle(fromRoot("packages/agent-sdk/src/index.ts"))).href;

/** A directory whose agents find their SDK as one file, which starts in half the time; and the example that greets. */
const home = await (async () => {
  // It goes with the end of the run: a worker that is ended says no more.
  const directory = await mkdtemp(join(process.env.HARNESS_TEST_RUN as string, "agents-"));
  const modules = join(directory, "node_modules", "@harnesskit", "agent-sdk");
  await mkdir(modules, { recursive: true });
  await writeFile(join(modules, "index.js"), `export * from ${JSON.stringify(sdk)};`);
  await writeFile(join(modules, "package.json"), '{"type":"module","exports":"./index.js"}');
  const example = fileURLToPath(fromRoot("apps/examples/hello-agent"));
  await symlink(await realpath(join(example, "node_modules/zod")), join(directory, "node_modules", "zod"));
  await mkdir(join(directory, "hello-agent"));
  for (const name of ["opensentience.agent.json", "agent.mjs"])
    await copyFile(join(example, name), join(directory, "hello-agent", name));
  return directory;
})();

export const helloAgent = join(home, "hello-agent");

export const makeDirectory = async (): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), "hk-a-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true, maxRetries: 20 }));
  return directory;
};

/** An agent whose tools are in `tools`, JavaScript in which `here` is its directory. */
export const makeAgent = async (id: string, tools: string, more: object = {}): Promise<string> => {
  const directory = join(await makeDirectory(), "agent");
  await mkdir(directory);
  const manifest = { id, version: "1.0.0", command: [process.execPath, "agent.mjs"], ...more };
  await writeFile(join(directory, "opensentience.agent.json"), JSON.stringify(manifest));
  await writeFile(
    join(directory, "agent.mjs"),
    `import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import { defineAgent, tool } from ${JSON.stringify(sdk)};
const here = ${JSON.stringify(directory)} + "/";
writeFileSync(here + "pid", String(process.pid));
await defineAgent({ id: ${JSON.stringify(id)}, version: "1.0.0", tools: [${tools}] }).run();
`,
  );
  return directory;
};

/** A tool that does not say what it changes, and signs the file "signed". */
export const signingTool = `tool({
  name: "sign",
  description: "Signs",
  input: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
  run: ({ name }) => {
    appendFileSync(here + "signed", name);
    return { signed: name };
  },
})`;
