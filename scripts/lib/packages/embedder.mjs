import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "../root.mjs";
import { run } from "../run.mjs";
import { manifestOf } from "../workspace.mjs";

const examples = join(repositoryRoot, "apps/examples");
const prompts = ["greet Ada", "sign Ada", "sign Mallory", "greet Ada"];
const lines = [
  'com_example_hello__greet succeeded {"greeting":"Hello, Ada!"}',
  'com_example_hello__sign succeeded {"guests":1}',
  "com_example_hello__sign blocked Mallory is not welcome (rule not-mallory)",
  'com_example_hello__greet succeeded {"greeting":"Welcome back, Ada!"}',
];

/** What the example that embeds the parts imports, from `tarballs` by name. */
export function dependencies(tarballs) {
  const manifest = manifestOf("apps/examples/embedder");
  return Object.fromEntries(
    Object.entries(manifest.dependencies).map(([name, range]) => [name, tarballs[name] ?? range]),
  );
}

/**
 * Runs the example that embeds the parts outside of the repository, with nothing but the packed packages, which are installed in
 * `dir`. Returns findings.
 */
export async function check(dir) {
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
