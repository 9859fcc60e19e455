import { readdir, readFile } from "node:fs/promises";
import { extname, join } from "node:path";

const types = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/**
 * Serves the files of a folder and of its `assets`, which are read once: what is not there when it starts is nowhere.
 * `engineOrigins` are the engines of other origins that the page may talk with.
 */
export const servePage = async (folder, { engineOrigins = [] } = {}) => {
  const files = new Map();
  for (const below of ["", "assets"]) {
    for (const entry of await readdir(join(folder, below), { withFileTypes: true })) {
      const type = types[extname(entry.name)];
      if (!entry.isFile() || type === undefined) continue;
      const path = `/${below === "" ? "" : `${below}/`}${entry.name}`;
      files.set(path, {
        type,
        body: await readFile(join(folder, below, entry.name)),
        isNamedByContent: below !== "",
      });
    }
  }
  files.set("/", files.get("/index.html"));
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    ["connect-src 'self'", ...engineOrigins].join(" "),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join("; ");
  return (request) => {
    const file = files.get(new URL(request.url).pathname);
    if (file === undefined) return new Response("There is nothing here.\n", { status: 404 });
    if (request.method !== "GET" && request.method !== "HEAD") {
      return new Response(null, { status: 405, headers: { allow: "GET, HEAD" } });
    }
    return new Response(request.method === "HEAD" ? null : file.body, {
      headers: {
        "content-type": file.type,
        "content-security-policy": policy,
        "cache-control": file.isNamedByContent ? "public, max-age=31536000, immutable" : "no-cache",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
      },
    });
  };
};
