import picomatch from "picomatch";
import type { ProblemList } from "../file/read-policy-file.ts";
import type { YamlPath } from "../file/yaml-places.ts";
import { RuleError } from "../policy-error.ts";

/** Characters of a name that a glob looks at; with `maxStars` it bounds the time of a match. */
const maxNameLength = 256;
const maxStars = 3;

export interface GlobsOptions {
  readonly globs: string | readonly string[];
  readonly lists: Readonly<Record<string, readonly string[]>>;
  readonly path: YamlPath;
  readonly problems: ProblemList;
}

type Test = (name: string) => boolean;

/** Neither `/` nor a leading dot is special in a name. */
const options = { dot: true, bash: true, noextglob: true, nonegate: true, strictSlashes: true } as const;

const compileGlobs = (globs: readonly string[]): Test => {
  const words = new Set<string>();
  const tests: Test[] = [];
  for (const glob of globs) {
    if (picomatch.scan(glob, options).isGlob) tests.push(picomatch(glob, options));
    else words.add(glob);
  }
  return (name) => {
    if (words.has(name)) return true;
    if (tests.length === 0 || name === "") return false;
    if (name.length > maxNameLength) {
      throw new RuleError("policy_cost", `a name has more than ${maxNameLength} characters`);
    }
    return tests.some((test) => test(name));
  };
};

/** Makes a test of names. What is wrong with the globs goes to `problems`. */
export const compileNames = ({ globs, lists, path, problems }: GlobsOptions): Test => {
  const wanted: string[] = [];
  const unwanted: string[] = [];
  const all = typeof globs === "string" ? [globs] : globs;
  all.forEach((entry, index) => {
    const place = typeof globs === "string" ? path : [...path, index];
    const isOut = entry.startsWith("!");
    const glob = isOut ? entry.slice(1) : entry;
    const target = isOut ? unwanted : wanted;
    const name = glob.startsWith("@") ? glob.slice(1) : undefined;
    const list = name === undefined ? [glob] : Object.hasOwn(lists, name) ? lists[name] : undefined;
    if (!list) problems.add(place, `there is no list ${JSON.stringify(name)}`);
    for (const item of list ?? []) {
      if (item.split("*").length - 1 <= maxStars) target.push(item);
      else problems.add(place, `the glob ${JSON.stringify(item)} has more than ${maxStars} stars`);
    }
  });
  const isWanted = wanted.length === 0 && unwanted.length > 0 ? () => true : compileGlobs(wanted);
  if (unwanted.length === 0) return isWanted;
  const isUnwanted = compileGlobs(unwanted);
  return (name) => isWanted(name) && !isUnwanted(name);
};
