import { describeChanges } from "./changes/describe-changes.ts";
import { startAhpAgent } from "./targets/ahp-agent.ts";

describeChanges("ahp-client", startAhpAgent);
