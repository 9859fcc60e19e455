import { describeChanges } from "./changes/describe-changes.ts";
import { startRuntimeCore } from "./targets/runtime-core.ts";

describeChanges("runtime-core", startRuntimeCore);
