import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { repositoryRoot } from "../../lib/root.mjs";

const pathOf = (name) => join(repositoryRoot, "packages", name);

const built = {
  graph: pathOf("graph/dist/index.js"),
  harness: pathOf("chat-harness/dist/index.js"),
  store: pathOf("store-sqlite/dist/index.js"),
};

/** True when all that the processes are made of is there. */
export const isBuilt = () => Object.values(built).every((path) => existsSync(path));

const load = (path) => import(pathToFileURL(path).href);

/** Opens stores as they were built. */
export const loadStore = () => load(built.store);

/** What the graph of the story and its harness are made of, as it was built. */
export const loadHarness = async () => {
  const [graph, harness] = await Promise.all([load(built.graph), load(built.harness)]);
  return { ...graph, ...harness };
};
