import { existsSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "../lib/root.mjs";

const pathOf = (name) => join(repositoryRoot, "packages", name);

/** The built files that the cores and agents of this run are made of. */
export const built = {
  agentSdk: pathOf("agent-sdk/dist/index.js"),
  audit: pathOf("audit/dist/node.js"),
  coreRuntime: pathOf("core-runtime/dist/index.js"),
};

/** True when all of them are there. */
export const isBuilt = () => Object.values(built).every((path) => existsSync(path));
