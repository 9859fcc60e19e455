import { library } from "../../scripts/tsup.ts";

export default library({
  base: "src/base/index.ts",
  envelope: "src/envelope/index.ts",
  threads: "src/threads/index.ts",
  runtime: "src/runtime/index.ts",
  ahp: "src/ahp/index.ts",
  chat: "src/chat/index.ts",
  "chat-errors": "src/chat/error-buckets.ts",
  openharness: "src/openharness/index.ts",
  hub: "src/hub/index.ts",
  "published-documents": "src/published-documents.ts",
});
