import picomatch from "picomatch";
import type { PolicySource, YamlPath } from "../file/policy-source.ts";
import { RuleError } from "../policy-error.ts";

/** Characters of a name that a glob accepts; together with `maxStars` it bounds the time of a match. */
const maxNameLength = 256;
const maxStars = 3;

type Test = (name: string) => boolean;

/** Neither `/` nor a leading dot is special in a name. */
const options = { dot: true, bash: true, noextglob: true, nonegate: true, strictSlashes: true } as const;

const compileGlobs = (globs: readonly string[]): Test => {
  const isGlob = (glob: string): boolean => picomatch.scan(glob, options).isGlob === true;
  const words = new Set(globs.filter((glob) => !isGlob(glob)));
  const tests = globs.filter(isGlob).map((glob) => picomatch(glob, options));
  return (name) => {
    if (words.has(name)) return true;
    if (tests.length === 0 || name === "") return false;
    if (name.length > maxNameLength)
      throw new RuleError("policy_cost", `a name has more than ${maxNameLength} characters`);
    return tests.some((test) => test(name));
  };
};

/** Makes a test of names. Problems of the globs are added to `problems`. */
export const compileNames = (
  globs: string | readonly string[],
  path: YamlPath,
  lists: Readonly<Record<string, readonly string[]>>,
  problems: Pick<PolicySource, "add">,
): Test => {
  const wanted: string[] = [];
  const unwanted: string[] = [];
  [globs].flat().forEach((entry, index) => {
    const place = typeof globs === "string" ? path : [...path, index];
    const isUnwanted = entry.startsWith("!");
    const glob = isUnwanted ? entry.slice(1) : entry;
    const name = glob.startsWith("@") ? glob.slice(1) : undefined;
    const items = name === undefined ? [glob] : Object.hasOwn(lists, name) ? lists[name] : undefined;
    if (!items) problems.add(place, `unknown list ${JSON.stringify(name)}`);
    for (const item of items ?? []) {
      if (item.split("*").length - 1 <= maxStars) (isUnwanted ? unwanted : wanted).push(item);
      else problems.add(place, `the glob ${JSON.stringify(item)} has more than ${maxStars} stars`);
    }
  });
  const isWanted = wanted.length === 0 && unwanted.length > 0 ? () => true : compileGlobs(wanted);
  if (unwanted.length === 0) return isWanted;
  const isUnwanted = compileGlobs(unwanted);
  return (name) => isWanted(name) && !isUnwanted(name);
};
