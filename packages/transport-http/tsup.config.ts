import { library } from "../../scripts/tsup.ts";

export default library({
  index: "src/index.ts",
  node: "src/node/index.ts",
  "ai-sdk-ui": "src/ai-sdk-ui/index.ts",
});
