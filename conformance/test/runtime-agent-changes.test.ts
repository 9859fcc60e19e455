import { describeChanges } from "./changes/describe-changes.ts";
import { startRuntimeAgent } from "./targets/runtime-agent.ts";

describeChanges("runtime-agent", startRuntimeAgent);
