import { library } from "../scripts/tsup.ts";

export default library({ index: "src/index.ts", bin: "src/bin.ts" });
