import { describeChanges } from "./changes/describe-changes.ts";
import { createChatAdapter } from "./targets/chat-adapter.ts";
import { serveAdapter } from "./targets/serve-adapter.ts";

describeChanges("chat", serveAdapter(createChatAdapter));
