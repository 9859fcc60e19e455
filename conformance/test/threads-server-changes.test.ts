import { describeChanges } from "./changes/describe-changes.ts";
import { startThreadServer } from "./targets/thread-server.ts";

describeChanges("threads-server", startThreadServer);
