import { library } from "../../scripts/tsup.ts";

export default library({
  bin: "src/bin.ts",
});
