import { library } from "../../scripts/tsup.ts";

export default library({
  index: "src/index.ts",
  hook: "src/hook/index.ts",
  settings: "src/settings/index.ts",
  doctor: "src/doctor/index.ts",
  mcp: "src/mcp/index.ts",
  acp: "src/acp/index.ts",
});
