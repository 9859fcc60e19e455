import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { option, report } from "./lib/report.mjs";
import { repositoryRoot } from "./lib/root.mjs";
import { run, stopChildrenOnSignals } from "./lib/run.mjs";
import { buildApi } from "./lib/site/api.mjs";
import { cliPages } from "./lib/site/cli-pages.mjs";
import { withMessageTables } from "./lib/site/message-tables.mjs";
import { sitePages, toSiteMarkdown } from "./lib/site/pages.mjs";
import { filesBelow } from "./lib/workspace.mjs";

/** The sources of the site, put together from the repository's files; a folder that can be removed. */
const source = join(repositoryRoot, ".cache/site");
const vitepress = join(repositoryRoot, "node_modules/vitepress/bin/vitepress.js");
const buildTimeoutMs = 1_800_000;

const write = (page, text) => {
  const file = join(source, `${page}.md`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
};

const listOfDecisions = () =>
  filesBelow(join(repositoryRoot, "docs/adr"), [".md"])
    .filter((file) => /\d{4}-[^/]*$/.test(file))
    .map((file) => {
      const title = /^# (.+)$/m.exec(readFileSync(file, "utf8"))?.[1];
      return `- [${title}](/adr/${basename(file, ".md")})`;
    })
    .join("\n");

/** The reference without its scope in the paths: `/api/wire/rpc`. Returns the sidebar. */
function placeApi(target) {
  const scoped = join(target, "@harnesskit");
  const sidebar = [];
  for (const entry of readdirSync(scoped, { withFileTypes: true })) {
    const short = entry.name.replace(/\.md$/, "");
    renameSync(join(scoped, entry.name), join(target, entry.name));
    const pages = entry.isDirectory()
      ? readdirSync(join(target, entry.name), { recursive: true })
          .filter((name) => name.endsWith(".md") && name !== "index.md")
          .map((name) => name.slice(0, -3))
          .sort((a, b) => Number(b === "main") - Number(a === "main") || a.localeCompare(b, "en"))
      : [];
    sidebar.push({
      text: short,
      link: `/api/${short}${entry.isDirectory() ? "/" : ""}`,
      collapsed: true,
      items: entry.isDirectory()
        ? pages.map((page) => ({ text: page, link: `/api/${short}/${page}` }))
        : undefined,
    });
  }
  rmSync(scoped, { recursive: true });
  const index = join(target, "index.md");
  writeFileSync(index, readFileSync(index, "utf8").replaceAll("](@harnesskit/", "]("));
  writeFileSync(
    join(target, "sidebar.json"),
    JSON.stringify(sidebar.sort((a, b) => a.text.localeCompare(b.text, "en"))),
  );
}

const readPages = (findings) =>
  sitePages().map(({ file, page }) => ({
    page,
    markdown: toSiteMarkdown(file, readFileSync(join(repositoryRoot, file), "utf8"), findings),
  }));

async function buildSite() {
  rmSync(source, { recursive: true, force: true });
  mkdirSync(source, { recursive: true });
  const { findings, packages } = await buildApi(join(source, "api"));
  placeApi(join(source, "api"));
  for (const part of [".vitepress/config.mjs", ".vitepress/theme", "public"]) {
    cpSync(join(repositoryRoot, "docs", part), join(source, part), { recursive: true });
  }
  const pages = readPages(findings);
  for (const { page, markdown } of pages) {
    write(page, withMessageTables(markdown).replace("<!-- list of decisions -->", listOfDecisions));
  }
  for (const { page, markdown } of await cliPages()) write(page, markdown);
  const { code, output: said } = await run(process.execPath, [vitepress, "build", source], {
    cwd: repositoryRoot,
    timeoutMs: buildTimeoutMs,
  });
  if (code !== 0) findings.push(`docs: VitePress ended with exit code ${code}\n${said.trimEnd()}`);
  report(
    "docs",
    findings,
    `${pages.length} pages and the reference of ${packages} packages in .cache/site/.vitepress/dist`,
  );
}

stopChildrenOnSignals();
if (option("only", "site") === "sources") {
  const { findings, packages } = await buildApi();
  const pages = readPages(findings);
  report("docs", findings, `${pages.length} pages and the reference of ${packages} packages`);
} else await buildSite();
