import { program } from "../../scripts/tsup.ts";

export default program({ bin: "src/bin.ts" }, ["libsql", "@vscode/ripgrep", "@harnesskit/conformance"]);
