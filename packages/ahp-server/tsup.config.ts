import { library } from "../../scripts/tsup.ts";

export default library({
  index: "src/index.ts",
  policy: "src/policy/index.ts",
  "policy-node": "src/policy/node/index.ts",
  node: "src/node/index.ts",
  testing: "src/testing/index.ts",
});
