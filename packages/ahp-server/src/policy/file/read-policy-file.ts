import type * as z from "zod";
import { PolicyError, type PolicyProblem } from "../policy-error.ts";
import type { ResolvedPolicyLimits } from "../policy-limits.ts";
import { readYaml } from "./read-yaml.ts";
import type { YamlPath, YamlPlaces } from "./yaml-places.ts";

/** A file that has its schema's form. */
export interface SchemaSource<T> {
  readonly value: T;
  readonly places: YamlPlaces;
}

/** Each place is looked up in the file, so that many would take long, and nobody reads them. */
const maxIssues = 20;

const pathText = (path: YamlPath): string => path.map(String).join(".");

type Issue = z.core.$ZodIssue;

/** Of a union that fits nowhere, what is wrong with the member that got furthest. */
const innermost = (issue: Issue, path: YamlPath = issue.path): { issue: Issue; path: YamlPath } => {
  if (issue.code !== "invalid_union") return { issue, path };
  let best: { issue: Issue; path: YamlPath } | undefined;
  for (const issues of issue.errors) {
    for (const inner of issues) {
      const found = innermost(inner, [...path, ...inner.path]);
      const isDeeper = best === undefined || found.path.length > best.path.length;
      const isKey = found.issue.code === "unrecognized_keys" && found.path.length === best?.path.length;
      if (isDeeper || isKey) best = found;
    }
  }
  return best ?? { issue, path };
};

const problemsOf = (outer: Issue, places: YamlPlaces): PolicyProblem[] => {
  const { issue, path } = innermost(outer);
  if (issue.code === "unrecognized_keys") {
    return issue.keys.slice(0, maxIssues).map((key) => ({
      message: `unknown key ${JSON.stringify(key.slice(0, 100))}`,
      path: pathText([...path, key]),
      ...places.placeOfKey(path, key),
    }));
  }
  const where = pathText(path);
  return [
    { message: where ? `${where}: ${issue.message}` : issue.message, path: where, ...places.placeOf(path) },
  ];
};

/** Reads a YAML file of a schema's form. Throws {@link PolicyError} with the place of each problem. */
export const readPolicyFile = <T>(
  text: string,
  schema: z.ZodType<T>,
  file: string,
  limits: ResolvedPolicyLimits,
): SchemaSource<T> => {
  const { value, places } = readYaml(text, file, limits);
  const result = schema.safeParse(value);
  if (result.success) return { value: result.data, places };
  throw new PolicyError(
    "policy_invalid",
    file,
    result.error.issues.slice(0, maxIssues).flatMap((issue) => problemsOf(issue, places)),
  );
};

/** Collects what is wrong with a policy that has the right form, and what is probably not meant. */
export class ProblemList {
  readonly #places: YamlPlaces;
  readonly #problems: PolicyProblem[] = [];
  readonly #warnings: PolicyProblem[] = [];
  #hasExpression = false;

  constructor(places: YamlPlaces) {
    this.#places = places;
  }

  add(path: YamlPath, message: string): void {
    this.#problems.push({ message, path: pathText(path), ...this.#places.placeOf(path) });
  }

  addInText(path: YamlPath, text: string, offset: number, message: string): void {
    this.#hasExpression = true;
    const place = this.#places.placeInText(path, text, offset);
    this.#problems.push({ message, path: pathText(path), ...place });
  }

  /** Warns of a key of the map at `path`. A policy with warnings can be used. */
  warn(path: YamlPath, key: string, message: string): void {
    if (this.#warnings.length >= maxIssues) return;
    const place = this.#places.placeOfKey(path, key);
    this.#warnings.push({ message, path: pathText([...path, key]), ...place });
  }

  get warnings(): readonly PolicyProblem[] {
    return this.#warnings;
  }

  throwIfAny(file: string): void {
    if (this.#problems.length === 0) return;
    throw new PolicyError(this.#hasExpression ? "policy_expression" : "policy_invalid", file, this.#problems);
  }
}
