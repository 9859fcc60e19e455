export { defaultPolicyFile } from "./default-policy-file.ts";
export { loadBuiltPolicy } from "./load-built-policy.ts";
export { loadPolicy } from "./load-policy.ts";
export { savePolicy } from "./save-policy.ts";
export { casesFileOf, testPolicyFile } from "./test-policy-file.ts";
export { type PolicyWatch, watchPolicy } from "./watch-policy.ts";
