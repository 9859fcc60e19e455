import { existsSync, statSync } from "node:fs";
import { join, posix } from "node:path";
import { repositoryRoot } from "../root.mjs";
import { filesBelow, workspacePackages } from "../workspace.mjs";

const repository = "https://github.com/harnesskit/harnesskit";

const topPages = {
  "ARCHITECTURE.md": "architecture",
  "CONTRIBUTING.md": "contributing",
  "SECURITY.md": "vulnerabilities",
  "bench/README.md": "benchmarks",
  "conformance/README.md": "packages/conformance",
};

/** The site's page of a Markdown file of the repository, such as `packages/wire`; undefined where it has none. */
function pageOf(file) {
  if (file === "README.md") return "index";
  if (Object.hasOwn(topPages, file)) return topPages[file];
  const readme = /^(packages|apps|apps\/examples)\/([^/]+)\/README\.md$/.exec(file);
  if (readme !== null) return `${readme[1] === "apps/examples" ? "examples" : "packages"}/${readme[2]}`;
  return /^docs\/.*\.md$/.test(file) ? file.slice("docs/".length, -".md".length) : undefined;
}

/** The pages of the site that are files of the repository: `{ file, page }`, both from their roots. */
export function sitePages() {
  const fromRoot = (path) => posix.relative(repositoryRoot, path);
  const readmes = workspacePackages(repositoryRoot).map(({ path }) => `${path}/README.md`);
  const docs = filesBelow(join(repositoryRoot, "docs"), [".md"], { skip: [".vitepress"] }).map(fromRoot);
  return [...Object.keys(topPages), ...readmes, ...docs]
    .filter((file, index, all) => all.indexOf(file) === index && existsSync(join(repositoryRoot, file)))
    .flatMap((file) => {
      const page = pageOf(file);
      return page === undefined ? [] : [{ file, page }];
    });
}

/** What a link of the page of `file` leads to on the site. Throws an error with the reason for a link that leads nowhere. */
function siteLink(file, target) {
  if (/^[a-z][a-z+.-]*:/.test(target) || target.startsWith("#") || target.startsWith("/")) return target;
  const [path, anchor = ""] = target.split("#");
  const hash = anchor === "" ? "" : `#${anchor}`;
  const found = posix.normalize(posix.join(posix.dirname(file), path)).replace(/\/$/, "");
  if (found.startsWith("..") || !existsSync(join(repositoryRoot, found))) throw new Error("no such file");
  const isDirectory = statSync(join(repositoryRoot, found)).isDirectory();
  const readme = found === "." ? "README.md" : `${found}/README.md`;
  const page = pageOf(isDirectory && existsSync(join(repositoryRoot, readme)) ? readme : found);
  // Pictures: the site serves them at its root.
  if (found.startsWith("docs/public/")) return `/${found.slice("docs/public/".length)}`;
  if (found === "docs/adr") return `/adr/${hash}`;
  if (page !== undefined) return `/${page === "index" ? "" : page}${hash}`;
  return `${repository}/${isDirectory ? "tree" : "blob"}/main/${found}${hash}`;
}

/**
 * The Markdown of a page for the site: links to files of the repository become links to pages, or to the file in the
 * repository. Adds a line to `findings` for each link that leads nowhere.
 */
export function toSiteMarkdown(file, markdown, findings) {
  let fence;
  const lines = markdown.split("\n").map((line, index) => {
    const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1];
    if (mark !== undefined) {
      if (fence === undefined) fence = mark;
      else if (line.trim() === fence) fence = undefined;
      return line;
    }
    if (fence !== undefined) return line;
    return line.replace(/(\]\()([^()\s]+)(\))/g, (whole, before, target, after) => {
      try {
        return `${before}${siteLink(file, target)}${after}`;
      } catch (error) {
        findings.push(`${file}:${index + 1}: the link to ${target} is broken: ${error.message}`);
        return whole;
      }
    });
  });
  return lines.join("\n");
}
