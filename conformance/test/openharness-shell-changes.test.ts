import { describeChanges } from "./changes/describe-changes.ts";
import { startShellClient } from "./targets/shell-client.ts";

describeChanges("openharness-shell", startShellClient);
