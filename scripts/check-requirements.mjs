import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { option, report } from "./lib/report.mjs";
import { judgeChecks, judgeClaims, readRequirements } from "./lib/requirements.mjs";
import { repositoryRoot } from "./lib/root.mjs";

const dir = resolve(option("requirements", join(repositoryRoot, "conformance/requirements")));
const claimsFile = resolve(option("claims", join(repositoryRoot, ".cache/claims.json")));

const { requirements, findings } = readRequirements(dir);
findings.push(...judgeChecks(requirements, resolve(option("scenarios", join(dir, "../scenarios")))));
if (existsSync(claimsFile)) {
  findings.push(...judgeClaims(requirements, JSON.parse(readFileSync(claimsFile, "utf8"))));
} else {
  findings.push(`${claimsFile}: missing; run the tests first (npm test -- --only vitest,requirements)`);
}
const untestable = [...requirements.values()].filter((entry) => entry.untestable !== undefined).length;
report("requirements", findings, `${requirements.size} requirements, ${untestable} of them untestable`);
