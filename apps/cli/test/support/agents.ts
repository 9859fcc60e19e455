import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { onTestFinished } from "vitest";

/** The agent in Python of the conformance suite: `echo`, `act`, and `extra`, which changes things. */
export const pythonAgent = fileURLToPath(new URL("../../../../conformance/peers", import.meta.url));
const example = (name: string) => fileURLToPath(new URL(`../../../examples/${name}`, import.meta.url));
export const helloAgent = example("hello-agent");
const sdk = pathToFileURL(
  fileURLToPath(new URL("../../../../packages/agent-sdk/dist/index.js", import.meta.url)),
).href;

export const makeDirectory = async (): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), "hk-a-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true, maxRetries: 20 }));
  return directory;
};

/** An agent whose tools are in `tools`, JavaScript in which `here` is its directory. */
export const makeAgent = async (id: string, tools: string, command?: readonly string[]): Promise<string> => {
  const directory = join(await makeDirectory(), "agent");
  await mkdir(directory);
  const manifest = { id, version: "1.0.0", command: command ?? [process.execPath, "agent.mjs"] };
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
