import { library, program } from "../../scripts/tsup.ts";

export default [
  library({
    index: "src/index.ts",
    declarations: "src/declarations.ts",
    "edit-preview": "src/edit-preview.ts",
  }),
  // A core starts it with each command of `harness`: as one file it takes half the time to start.
  program({ agent: "src/bin.ts" }, ["@vscode/ripgrep"], { cleans: false }),
];
