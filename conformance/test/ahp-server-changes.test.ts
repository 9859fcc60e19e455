import { describeChanges } from "./changes/describe-changes.ts";
import { startAhpHarness } from "./targets/ahp-harness.ts";

describeChanges("ahp-server", startAhpHarness);
