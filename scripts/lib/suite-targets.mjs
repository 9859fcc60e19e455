import { join } from "node:path";
import { build } from "rolldown";
import { repositoryRoot } from "./root.mjs";

const conformance = join(repositoryRoot, "conformance");

/**
 * Writes `targets.mjs` and `peers.mjs` (our implementation of each role, as modules and as a program) to a folder, from
 * which the packages that they import must be found.
 */
export const buildTargets = (dir) =>
  build({
    input: ["targets.ts", "peers.ts"].map((file) => join(conformance, "test/programs", file)),
    platform: "node",
    external: /^[^./]/,
    output: { dir, format: "esm", entryFileNames: "[name].mjs", chunkFileNames: "[name]-[hash].mjs" },
  });

/** Our implementation of a role as the target of a run, from the folder of {@link buildTargets} and its `targets`. */
export const ownTarget = (name, transport, dir, targets) =>
  transport === "stdio"
    ? {
        kind: "command",
        command: `exec '${process.execPath}' '${join(dir, "peers.mjs")}' ${name}`,
        transport,
      }
    : { kind: "module", start: targets[name], name, transport };
