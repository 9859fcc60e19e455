import { describeChanges } from "./changes/describe-changes.ts";
import { startThreadClient } from "./targets/thread-client.ts";

describeChanges("threads-client", startThreadClient);
