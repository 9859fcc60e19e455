import { readdirSync, readFileSync } from "node:fs";
import { defineConfig } from "vitepress";
import llmstxt from "vitepress-plugin-llms";

const here = new URL("..", import.meta.url);
const titleOf = (page) =>
  /^# (.+)$/m.exec(readFileSync(new URL(`${page}.md`, here), "utf8"))?.[1].replaceAll("`", "") ?? page;
const item = (page) => ({ text: titleOf(page), link: `/${page}` });
const items = (...pages) => pages.map(item);
const below = (folder) =>
  readdirSync(new URL(folder, here))
    .filter((name) => name.endsWith(".md") && name !== "index.md")
    .sort()
    .map((name) => item(`${folder}/${name.slice(0, -3)}`));

const guides = [
  ...[
    "supervise",
    "hub",
    "approve-from-anywhere",
    "policies",
    "guard",
    "runtime",
    "agents",
    "threads",
    "chat",
    "shells",
    "frameworks",
    "postgres",
  ],
  ...["opentelemetry", "migrate", "cli"],
];
/** What those look up who know what they want. */
const reference = ["supervision", "agent-hooks", "transports", "protocols"];
const conformance = ["conformance", "benchmarks"];
const project = ["vulnerabilities", "architecture", "contributing"];
/**
 * What a search finds first: pages that explain, then decisions and tables, then the reference. The site's pages get the source of this
 * function, so that it uses nothing from outside.
 */
const searchWeight = (id) => {
  const weights = [
    [/\/api\//, 0.2],
    [/\/(adr|sessions)\/|-session\b|\/(architecture|compatibility|benchmarks)\b/, 0.4],
    [/\/(packages|examples|cli)\//, 0.6],
  ];
  return weights.find(([pattern]) => pattern.test(id))?.[1] ?? 1;
};
/** What of a page is searched: of the reference, one section for each name, without code and without the names of its parts. */
const searchText = (source, { relativePath }, markdown) => {
  const isReference = relativePath.startsWith("api/");
  const named = /^####+ .*$|^(?:\*\*\*|\|[ -|]*)$|^\| (?:Parameter|Property|Type Parameter|Member) \|.*$/gm;
  return markdown.render(isReference ? source.replace(/^```ts\n.*?^```$/gms, "").replace(named, "") : source);
};
/** Where the site is below its host, such as `/harnesskit/`. */
const base = process.env.DOCS_BASE ?? "/";

export default defineConfig({
  title: "harnesskit",
  description: "The TypeScript SDK for AI agents in production: watched, stoppable, resumable, audited.",
  lang: "en",
  base,
  cleanUrls: true,
  lastUpdated: false,
  head: [["link", { rel: "icon", href: `${base}icon.svg`, type: "image/svg+xml" }]],
  markdown: { theme: { light: "github-light-high-contrast", dark: "github-dark" } },
  vite: {
    // `llms.txt` and `llms-full.txt`, without the reference.
    plugins: [llmstxt({ ignoreFiles: ["api/**/*"] })],
    build: { chunkSizeWarningLimit: 2000 },
    logLevel: "warn",
  },
  themeConfig: {
    search: {
      provider: "local",
      options: { _render: searchText, miniSearch: { searchOptions: { boostDocument: searchWeight } } },
    },
    outline: [2, 3],
    nav: [
      { text: "Guides", link: "/supervise" },
      { text: "Command line", link: "/cli", activeMatch: "^/cli" },
      { text: "Messages", link: "/protocols" },
      { text: "Reference", link: "/api/", activeMatch: "^/api/" },
    ],
    sidebar: {
      "/api/": [
        { text: "All packages", link: "/api/" },
        ...JSON.parse(readFileSync(new URL("api/sidebar.json", here), "utf8")),
      ],
      "/": [
        { text: "Guides", collapsed: false, items: items(...guides) },
        { text: "Packages", collapsed: true, items: below("packages") },
        { text: "Commands", collapsed: true, items: below("cli") },
        { text: "Protocols", collapsed: true, items: items(...reference) },
        { text: "Conformance", collapsed: true, items: items(...conformance) },
        { text: "Examples", collapsed: true, items: below("examples") },
        { text: "Project", collapsed: true, items: [...items(...project), ...items("adr/index")] },
      ],
    },
    socialLinks: [{ icon: "github", link: "https://github.com/harnesskit/harnesskit" }],
    footer: { message: "MIT license" },
  },
});
