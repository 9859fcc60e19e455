export {
  contentAuditLimits,
  createPolicyAudit,
  type PolicyAudit,
  type PolicyAuditOptions,
} from "./audit/policy-audit.ts";
export type { PolicyFunction } from "./cel/policy-function.ts";
export { checkPolicy } from "./decide/decide.ts";
export type { Explanation } from "./decide/explanation.ts";
export { PolicyFileSchema, policyJsonSchema } from "./file/policy-schema.ts";
export { type ParsePolicyOptions, parsePolicy, parsePolicyLike } from "./parse-policy.ts";
export type { Policy } from "./policy.ts";
export {
  PolicyError,
  type PolicyErrorCode,
  type PolicyProblem,
  RuleError,
  type RuleErrorCode,
} from "./policy-error.ts";
export { createPolicyHarness, type PolicyHarness, type PolicyHarnessOptions } from "./policy-harness.ts";
export type { PolicyLimits } from "./policy-limits.ts";
export { secretFunctions } from "./secrets/secret-functions.ts";
export {
  type BacktestChange,
  type BacktestOptions,
  type BacktestReport,
  backtest,
} from "./tools/backtest.ts";
export { describePolicy, type RuleDescription } from "./tools/describe-policy.ts";
export {
  eventOfCase,
  type ParseCasesOptions,
  type PolicyCase,
  PolicyCaseSchema,
  parsePolicyCases,
} from "./tools/policy-cases.ts";
export { type PolicyTestReport, testPolicy } from "./tools/test-policy.ts";
