import { cpSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { install } from "./consumer.mjs";
import { repositoryRoot } from "./root.mjs";
import { run } from "./run.mjs";

const examples = join(repositoryRoot, "apps/examples");
const prompts = ["greet Ada", "sign Ada", "sign Mallory", "greet Ada"];
const lines = [
  'com_example_hello__greet succeeded {"greeting":"Hello, Ada!"}',
  'com_example_hello__sign succeeded {"guests":1}',
  "com_example_hello__sign blocked Mallory is not welcome (rule not-mallory)",
  'com_example_hello__greet succeeded {"greeting":"Welcome back, Ada!"}',
];

/**
 * Runs the example that embeds the parts outside of the repository, with nothing but the packed packages. Takes the folder
 * to work in, all tarballs by name, and pnpm. Returns findings.
 */
export async function checkEmbedder(dir, tarballs, pnpm) {
  const { dependencies } = JSON.parse(readFileSync(join(examples, "embedder/package.json"), "utf8"));
  const wanted = Object.entries(dependencies).map(([name, range]) => [name, tarballs[name] ?? range]);
  const installed = await install(pnpm, dir, Object.fromEntries(wanted), tarballs);
  if (installed.code !== 0) return [`the embedder cannot be installed: ${installed.output.trim()}`];
  for (const name of ["embedder", "hello-agent"]) {
    const isOwn = (path) => !/node_modules|[\\/]test$/.test(path.slice(examples.length));
    cpSync(join(examples, name), join(dir, name), { recursive: true, filter: isOwn });
  }
  const workspace = join(dir, "workspace");
  mkdirSync(workspace);
  const { code, stdout, output } = await run(
    process.execPath,
    [join(dir, "embedder/client.mjs"), workspace, ...prompts],
    { cwd: dir, timeoutMs: 30_000 },
  );
  const isRight = code === 0 && lines.every((line) => stdout.includes(`${line}\n`));
  return isRight ? [] : [`the embedder ends with ${code}: ${output.trim()}`];
}
