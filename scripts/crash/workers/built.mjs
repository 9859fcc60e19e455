import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { repositoryRoot } from "../../lib/root.mjs";

const names = ["wire", "graph", "chat-harness", "thread-server", "store-sqlite", "store-postgres"];
const pathOf = (name, entry = "index") => join(repositoryRoot, "packages", name, "dist", `${entry}.js`);

/** True when all that the workers are made of is there. */
export const isBuilt = () => names.every((name) => existsSync(pathOf(name)));

/** The packages as they were built, by their names. */
export const load = async (name, entry) => import(pathToFileURL(pathOf(name, entry)).href);
