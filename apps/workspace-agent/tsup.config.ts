import { library } from "../../scripts/tsup.ts";

export default library({
  index: "src/index.ts",
  declarations: "src/declarations.ts",
  "edit-preview": "src/edit-preview.ts",
});
