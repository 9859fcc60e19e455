import { library } from "../../scripts/tsup.ts";

export default library({ index: "src/index.ts", acp: "src/acp/index.ts" });
