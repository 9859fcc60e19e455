import { library } from "../../scripts/tsup.ts";

// Node only: it starts processes and opens files.
export default { ...library({ index: "src/index.ts" }), platform: "node" };
