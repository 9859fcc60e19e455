import { library } from "../../scripts/tsup.ts";

export default library({
  index: "src/index.ts",
  "ai-sdk": "src/ai-sdk/index.ts",
  "ai-sdk-ui": "src/ai-sdk-ui/index.ts",
});
