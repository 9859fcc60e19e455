import { existsSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "../../lib/root.mjs";

const names = ["wire", "graph", "chat-harness", "thread-server", "store-sqlite", "store-postgres"];

/** True when all that the workers are made of is there. */
export const isBuilt = () =>
  names.every((name) => existsSync(join(repositoryRoot, "packages", name, "dist/index.js")));
