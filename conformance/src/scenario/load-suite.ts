import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ConformanceError } from "../errors.ts";
import { builtInMatchers } from "../match/match.ts";
import { checkSteps } from "./check-steps.ts";
import { citedIds } from "./cited-ids.ts";
import { type Requirement, readRequirements } from "./read-requirements.ts";
import { readYaml } from "./read-yaml.ts";
import type { Step } from "./step-schema.ts";
import { type Role, type ScenarioFile, ScenarioSchema, type SuiteFile, SuiteSchema } from "./suite-schema.ts";

/** Everything that a run against one role needs. */
export interface Suite {
  /** `PROTOCOL-ROLE`, such as `ahp-server`. */
  readonly name: string;
  readonly protocol: string;
  readonly version: string;
  readonly roleName: string;
  readonly role: Role;
  readonly scenarios: readonly ScenarioFile[];
  readonly values: Readonly<Record<string, unknown>>;
  readonly matchers: Readonly<Record<string, unknown>>;
  readonly envelope: Readonly<Record<string, unknown>>;
  /** The first words of requirements that apply to other roles. */
  readonly otherSubjects: readonly string[];
  readonly fragments: Readonly<Record<string, readonly Step[]>>;
  readonly requirements: ReadonlyMap<string, Requirement>;
}

/** The folder of the package, which holds `scenarios` and `requirements`. */
export const packageDirectory = fileURLToPath(new URL("..", import.meta.url)).replace(/\/src\/$/, "/");

const readText = (file: string): string => readFileSync(file, "utf8");

const suiteFiles = (root: string, isWanted = (_: string) => true): { protocol: string; file: SuiteFile }[] =>
  readdirSync(join(root, "scenarios"), { withFileTypes: true })
    .filter(({ name }) => isWanted(name) && existsSync(join(root, "scenarios", name, "suite.yaml")))
    .map(({ name }) => ({
      protocol: name,
      file: readYaml(join(root, "scenarios", name, "suite.yaml"), SuiteSchema, readText),
    }));

/** A role that has the name of its protocol is the only one, and the suite has that name. */
const nameOf = (protocol: string, role: string): string =>
  role === protocol ? protocol : `${protocol}-${role}`;

/** The names of all suites, such as `ahp-server`. */
export const suiteNames = (root: string = packageDirectory): readonly string[] =>
  suiteFiles(root).flatMap(({ protocol, file }) =>
    Object.keys(file.roles).map((role) => nameOf(protocol, role)),
  );

const readScenarios = (folder: string): readonly ScenarioFile[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".yaml"))
    .sort()
    .map((name) => {
      const file = join(folder, name);
      const scenario = readYaml(file, ScenarioSchema, readText);
      checkSteps(scenario.steps, file);
      return scenario;
    });

const checkIds = (suite: Suite): void => {
  for (const id of citedIds(suite)) {
    if (!suite.requirements.has(id))
      throw new ConformanceError(
        "invalid_scenario",
        `${suite.name}: a check cites ${id}, which is not a requirement`,
      );
  }
};

/** The suites of this package, which do not change while a program runs: to parse one takes a tenth of a second. */
const ownSuites = new Map<string, Suite>();

/**
 * Reads a suite; one of this package once.
 *
 * @param name `PROTOCOL-ROLE`
 * @param root the folder with `scenarios` and `requirements`; default: those of this package
 * @throws {ConformanceError} `usage` for a name that is not known; `invalid_scenario` for a file that is not valid and
 *   for a check that cites an unknown id
 */
export const loadSuite = (name: string, root: string = packageDirectory): Suite => {
  const own = root === packageDirectory ? ownSuites.get(name) : undefined;
  if (own !== undefined) return own;
  const mayHave = (protocol: string) => name === protocol || name.startsWith(`${protocol}-`);
  const found = suiteFiles(root, mayHave).find(({ protocol, file }) =>
    Object.keys(file.roles).some((role) => nameOf(protocol, role) === name),
  );
  if (found === undefined) {
    const known = suiteNames(root).join(", ");
    throw new ConformanceError("usage", `there is no suite ${JSON.stringify(name)}; choose from: ${known}`);
  }
  const { protocol, file } = found;
  for (const [fragment, steps] of Object.entries(file.fragments ?? {}))
    checkSteps(steps, `${protocol}/suite.yaml: ${fragment}`);
  const roleName = name === protocol ? protocol : name.slice(protocol.length + 1);
  const clash = Object.keys(file.matchers ?? {}).find((matcher) => builtInMatchers.includes(matcher));
  if (clash !== undefined)
    throw new ConformanceError("invalid_scenario", `${protocol}: the matcher ${clash} is built in`);
  const suite: Suite = {
    name,
    protocol,
    version: file.version,
    roleName,
    role: file.roles[roleName] as Role,
    scenarios: readScenarios(join(root, "scenarios", protocol, roleName)),
    values: file.values ?? {},
    matchers: file.matchers ?? {},
    envelope: file.envelope ?? {},
    otherSubjects: Object.entries(file.roles).flatMap(([key, { subject }]) =>
      key === roleName || subject === undefined ? [] : [subject],
    ),
    fragments: file.fragments ?? {},
    requirements: readRequirements(join(root, "requirements"), file.requirements),
  };
  checkIds(suite);
  if (root === packageDirectory) ownSuites.set(name, suite);
  return suite;
};
