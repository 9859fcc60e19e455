import { program } from "../../scripts/rolldown.ts";

export default program({ agent: "src/bin.ts" }, { external: ["@vscode/ripgrep"], cleans: false });
