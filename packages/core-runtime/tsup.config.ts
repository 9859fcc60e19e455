import { library } from "../../scripts/tsup.ts";

export default library({
  index: "src/index.ts",
  remote: "src/remote/index.ts",
  "thread-tools": "src/thread-tools/index.ts",
  testing: "src/testing/index.ts",
});
