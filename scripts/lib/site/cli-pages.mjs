import { join } from "node:path";
import { repositoryRoot } from "../root.mjs";
import { mapLimit, run } from "../run.mjs";

const bin = join(repositoryRoot, "apps/cli/dist/bin.cjs");

async function helpOf(words) {
  const { code, stdout, output } = await run(process.execPath, [bin, ...words, "--help"], {
    env: { COLUMNS: "100", NO_COLOR: "1" },
  });
  if (code !== 0) throw new Error(`harness ${words.join(" ")} --help ends with ${code}: ${output.trim()}`);
  return stdout;
}

/** The names below "Commands:" of a help text. */
const commandsOf = (help) => {
  const [, list = ""] = help.split("\nCommands:\n");
  const [lines] = list.split("\n\n");
  return Array.from(lines.matchAll(/^ {2}([a-z][a-z-]*)/gm), ([, name]) => name).filter(
    (name) => name !== "help",
  );
};

const section = (words, help) =>
  `${words.length === 1 ? "#" : "##"} harness ${words.join(" ")}\n\n\`\`\`text\n${help.trimEnd()}\n\`\`\`\n`;

/** The help of `harness` as pages of the site, `{ page, markdown }`, one for each command with its own commands. */
export async function cliPages() {
  const names = commandsOf(await helpOf([]));
  return await mapLimit(names, 2, async (name) => {
    const help = await helpOf([name]);
    const parts = [section([name], help)];
    // `conformance` and `completion` read their own arguments.
    for (const child of commandsOf(help)) parts.push(section([name, child], await helpOf([name, child])));
    return { page: `cli/${name}`, markdown: parts.join("\n") };
  });
}
