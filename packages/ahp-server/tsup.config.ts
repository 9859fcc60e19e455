import { library } from "../../scripts/tsup.ts";

export default library({
  index: "src/index.ts",
  node: "src/node/index.ts",
  testing: "src/testing/index.ts",
});
