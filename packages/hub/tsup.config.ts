import { library } from "../../scripts/tsup.ts";

export default library({
  index: "src/index.ts",
  client: "src/client/index.ts",
  node: "src/node/index.ts",
  place: "src/place.ts",
});
