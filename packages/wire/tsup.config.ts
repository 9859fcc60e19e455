import { library } from "../../scripts/tsup.ts";

export default library({
  index: "src/index.ts",
  rpc: "src/rpc/index.ts",
  json: "src/json/index.ts",
  time: "src/time/index.ts",
  replay: "src/replay/index.ts",
  tool: "src/tool/index.ts",
  model: "src/model/index.ts",
  trace: "src/trace/index.ts",
  testing: "src/testing/index.ts",
});
