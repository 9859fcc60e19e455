import { library } from "../../scripts/tsup.ts";

export default library({
  index: "src/index.ts",
  "ai-sdk": "src/ai-sdk/index.ts",
  langgraph: "src/langgraph/index.ts",
  "thread-gates": "src/thread-gates/index.ts",
});
