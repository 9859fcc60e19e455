import { library } from "../../scripts/tsup.ts";

export default library({
  index: "src/index.ts",
  register: "src/register.ts",
  node: "src/node/index.ts",
});
