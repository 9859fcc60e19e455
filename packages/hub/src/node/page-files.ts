import { readdir, readFile, stat } from "node:fs/promises";
import { extname, join, sep } from "node:path";
import { ifPresent } from "@harnesskit/node-kit";

const types: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".woff2": "font/woff2",
  ".json": "application/json",
  ".webmanifest": "application/manifest+json",
  ".txt": "text/plain; charset=utf-8",
};

/** A file as it is served. */
export interface PageFile {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly type: string;
}

/** The built files of a page: only those that are in its directory can be asked for, by their exact path. */
export class PageFiles {
  readonly #directory: string;
  #paths: Promise<ReadonlyMap<string, string>> | undefined;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Undefined for a path that has no file. `/` is `index.html`. */
  async get(path: string): Promise<PageFile | undefined> {
    const wanted = path === "/" ? "/index.html" : path;
    const file = (await this.#known()).get(wanted);
    if (file === undefined) return undefined;
    const type = types[extname(file).toLowerCase()] ?? "application/octet-stream";
    return { body: new Uint8Array(await readFile(file)), type };
  }

  /** Whether the page was built. A page that is built later is found then. */
  async isBuilt(): Promise<boolean> {
    return (await this.#known()).has("/index.html");
  }

  async #known(): Promise<ReadonlyMap<string, string>> {
    this.#paths ??= this.#list();
    const paths = await this.#paths;
    if (!paths.has("/index.html")) this.#paths = undefined;
    return paths;
  }

  async #list(): Promise<ReadonlyMap<string, string>> {
    const paths = new Map<string, string>();
    for (const entry of (await ifPresent(readdir(this.#directory, { recursive: true }))) ?? []) {
      const file = join(this.#directory, entry);
      if ((await ifPresent(stat(file)))?.isFile()) paths.set(`/${entry.split(sep).join("/")}`, file);
    }
    return paths;
  }
}
