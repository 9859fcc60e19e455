import { describeChanges } from "./changes/describe-changes.ts";
import { startShellEngine } from "./targets/shell-engine.ts";

describeChanges("openharness-engine", startShellEngine);
