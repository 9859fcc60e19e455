import { library } from "../../scripts/tsup.ts";

export default library({
  index: "src/index.ts",
  testing: "src/testing/index.ts",
});
