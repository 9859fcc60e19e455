import { existsSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { filesBelow } from "../workspace.mjs";

const attribute = (html, name) =>
  Array.from(html.matchAll(new RegExp(` ${name}="([^"]+)"`, "g")), ([, value]) => value);
const decode = (text) => decodeURIComponent(text.replaceAll("&amp;", "&"));

/** The links of a built site that lead to no file of it, or to no element of a page, as findings. `base` is its path on the host. */
export function brokenLinks(site, base = "/") {
  const pages = new Map(
    filesBelow(site, [".html"], { skip: ["assets"] }).map((file) => {
      const html = readFileSync(file, "utf8");
      const links = attribute(html.replaceAll(/<head>[\s\S]*?<\/head>/g, ""), "href");
      return [file, { links, ids: new Set(attribute(html, "id").map(decode)) }];
    }),
  );
  const fileOf = (path) =>
    [join(site, path), join(site, `${path}.html`), join(site, path, "index.html")].find(
      (file) => existsSync(file) && statSync(file).isFile(),
    );
  const findings = new Set();
  for (const [file, { links }] of pages) {
    const page = `/${relative(site, file)}`;
    for (const link of links) {
      if (/^[a-z][a-z+.-]*:|^\/\//.test(link)) continue;
      if (link.startsWith("/") && !link.startsWith(base)) {
        findings.add(`${page}: ${link} leaves ${base}`);
        continue;
      }
      const inside = link.startsWith("/") ? link.slice(base.length - 1) : link;
      const { pathname, hash } = new URL(inside.replaceAll("&amp;", "&"), `http://site${page}`);
      const target = fileOf(decode(pathname));
      if (target === undefined) findings.add(`${page}: ${link} leads to no page`);
      else if (hash !== "" && pages.has(target) && !pages.get(target).ids.has(decode(hash.slice(1)))) {
        findings.add(`${page}: ${link} leads to no heading`);
      }
    }
  }
  return [...findings].sort();
}
