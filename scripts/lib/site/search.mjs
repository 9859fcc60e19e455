import { realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { repositoryRoot } from "../root.mjs";
import { filesBelow } from "../workspace.mjs";

const maxIndexBytes = 400_000;
const hitsLookedAt = 3;

/** What readers look for, and the page or section that answers it. */
const questions = {
  "turn input": "/threads#turn-input",
  Fastify: "/frameworks#fastify",
  "allowed origins": "/frameworks#tokens-and-allowed-origins",
  "stderr of a tool": "/runtime#stdout-and-stderr",
  "wait for a human": "/supervise#how-long",
};

/** VitePress searches like this (`VPLocalSearchBox.vue`), with what the theme's configuration adds. */
const searchOptions = (site) => ({
  ...{ fuzzy: 0.2, prefix: true, boost: { title: 4, text: 2, titles: 1 } },
  ...site.themeConfig.search.options.miniSearch.searchOptions,
});

/**
 * Searches the index of a built site, as its page does. Returns findings: an index that is larger than 400 kB compressed, and
 * what readers look for and is not among the first three hits. `source` has the site's `.vitepress/config.mjs`.
 */
export async function searchProblems(output, source) {
  const vitepress = createRequire(realpathSync(join(repositoryRoot, "node_modules/vitepress/package.json")));
  const MiniSearch = vitepress("minisearch");
  const file = filesBelow(join(output, "assets"), [".js"]).find((name) => name.includes("localSearchIndex"));
  const { default: text } = await import(pathToFileURL(file).href);
  const { default: site } = await import(pathToFileURL(join(source, ".vitepress/config.mjs")).href);
  const options = searchOptions(site);
  const index = MiniSearch.loadJSON(text, {
    fields: ["title", "titles", "text"],
    storeFields: ["title", "titles"],
    searchOptions: options,
  });
  const findings = [];
  const bytes = gzipSync(text).length;
  if (bytes > maxIndexBytes)
    findings.push(`docs: the search index has ${bytes} bytes compressed, more than ${maxIndexBytes}`);
  for (const [question, place] of Object.entries(questions)) {
    const hits = index
      .search(question)
      .slice(0, hitsLookedAt)
      .map(({ id }) => id);
    if (!hits.some((id) => id.includes(place)))
      findings.push(`docs: a search for "${question}" finds ${hits.join(", ")}, and not ${place}`);
  }
  return findings;
}
