import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** The root folder of this repository. */
export const repositoryRoot = resolve(dirname(fileURLToPath(import.meta.url)), "../..");
