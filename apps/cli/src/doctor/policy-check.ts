import { oneLine } from "../terminal/one-line.ts";
import { type Finding, ok, problem } from "./finding.ts";

/** Whether the policy can be read under which `harness serve` and `harness run` start where nothing else is said. */
export const checkPolicy = async (): Promise<Finding> => {
  try {
    const { policyOptions } = await import("../ahp/policy-options.ts");
    const { defaultPolicyFile, loadPolicy } = await import("@harnesskit/ahp-server/policy/node");
    const { name, rules, file } = await loadPolicy(defaultPolicyFile, policyOptions);
    const text = `${oneLine(name, 80)}, ${rules.length} rules: in force unless --policy, --ahp or --no-policy is given`;
    return ok("policy", `${text} (${oneLine(file, 1000)})`);
  } catch (error) {
    const why = oneLine(error instanceof Error ? error.message : String(error), 300);
    return problem(
      "policy",
      `the policy that ships cannot be read: ${why}`,
      "Install the program anew; until then: --policy FILE",
    );
  }
};
