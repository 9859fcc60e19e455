import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pages } from "../place-pages.mjs";

const reference = /\b(?:src|href)="([^"]*)"/g;
const inline = /<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=/i;

/** What is wrong with the page in an installed package, whose folder in the repository is `path`; nothing where it has none. */
export function pageProblems(path, installed) {
  const page = pages.find(({ shipped }) => shipped.startsWith(`${path}/`));
  if (page === undefined) return [];
  const folder = page.shipped.slice(path.length + 1);
  const index = join(installed, folder, "index.html");
  if (!existsSync(index)) return [`does not pack ${folder}/index.html: build the page (npm run build)`];
  const html = readFileSync(index, "utf8");
  const named = [...html.matchAll(reference)].map(([, name]) => name);
  const problems = named.flatMap((name) => {
    if (!name.startsWith("./")) return [`${folder}/index.html loads ${name}, which is not in the package`];
    return existsSync(join(installed, folder, name)) ? [] : [`does not pack ${folder}/${name.slice(2)}`];
  });
  if (!named.some((name) => name.endsWith(".js"))) problems.push(`${folder}/index.html loads no script`);
  if (inline.test(html)) problems.push(`${folder}/index.html has an inline script or style`);
  return problems;
}
