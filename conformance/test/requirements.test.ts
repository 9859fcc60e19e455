import { existsSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import * as z from "zod";
import { loadSuite, type Suite, suiteNames } from "../src/index.ts";
import { checksOf, citedIds, idsOf } from "../src/scenario/cited-ids.ts";
import { packageDirectory } from "../src/scenario/load-suite.ts";
import { readRequirements } from "../src/scenario/read-requirements.ts";
import {
  type EachStep,
  type LeafStep,
  type Step,
  type UseStep,
  verbOf,
} from "../src/scenario/step-schema.ts";

const suites = suiteNames().map((name) => loadSuite(name));
const requirements = [...readRequirements(`${packageDirectory}requirements`).values()];

const ChoicesSchema = z.object({
  choices: z
    .array(z.strictObject({ section: z.string(), of: z.string().default(""), text: z.string().min(1) }))
    .default([]),
});
/** The requirements that a line of `choices` explains. */
const explained = readdirSync(`${packageDirectory}requirements`)
  .map((name) => readFileSync(`${packageDirectory}requirements/${name}`, "utf8"))
  .flatMap((text) => ChoicesSchema.parse(parse(text)).choices)
  .flatMap(({ of }) => of.split(" ").filter((id) => id !== ""));

/** The verbs of steps that a target can fail. */
const judging = ["call", "receive", "gather", "file", "closed", "open"];

const uncited = (steps: readonly Step[], place: string, fragments: Suite["fragments"]): string[] =>
  steps.flatMap((step, index) => {
    const verb = verbOf(step) ?? "";
    const at = `${place}, ${index + 1} ${verb}`;
    if (verb === "each") return uncited((step as EachStep).steps, at, fragments);
    if (verb === "use") return uncited(fragments[(step as UseStep).use] ?? [], at, fragments);
    return judging.includes(verb) && checksOf((step as LeafStep).checks).length === 0 ? [at] : [];
  });

describe("the requirements", () => {
  it.each(suites.map((suite) => [suite.name, suite] as const))(
    "of %s that must hold have a check, or a reason why they have none, and not both",
    (_, suite) => {
      const cited = citedIds(suite);
      const reasons = Object.keys(suite.role.unchecked ?? {}).flatMap(idsOf);
      const missing = [...suite.requirements.values()]
        .filter(({ text }) => !suite.otherSubjects.some((subject) => text.startsWith(`${subject}:`)))
        .filter(({ level }) => level === "MUST" || level === "SAFETY")
        .filter(({ untestable, unobservable }) => (untestable ?? unobservable) === undefined)
        .filter(({ id }) => !cited.has(id) && !reasons.includes(id));
      expect(missing.map(({ id, text }) => `${id} ${text}`)).toEqual([]);
      expect(reasons.filter((id) => cited.has(id) || !suite.requirements.has(id))).toEqual([]);
    },
  );

  it.each(suites.map((suite) => [suite.name, suite] as const))(
    "of %s have a core of twelve, each with a check",
    (_, suite) => {
      const core = suite.role.core?.split(" ") ?? [];
      expect(core).toHaveLength(12);
      expect(core.filter((id) => !citedIds(suite).has(id))).toEqual([]);
    },
  );

  it("are cited by each step of threads-server that a server can fail, so that no failure is without an id", () => {
    const { scenarios, fragments } = loadSuite("threads-server");
    expect(scenarios.flatMap(({ scenario, steps }) => uncited(steps, scenario, fragments))).toEqual([]);
  });

  it("have an id of their own each", () => {
    const files = readdirSync(`${packageDirectory}requirements`);
    const text = files
      .map((name) => readFileSync(`${packageDirectory}requirements/${name}`, "utf8"))
      .join("");
    const ids = [...text.matchAll(/^ +- \{ id: ([^,]+),/gm)].map(([, id]) => id);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    expect(ids).toHaveLength(requirements.length);
  });

  it("that need others need those that there are", () => {
    const known = new Set(requirements.map(({ id }) => id));
    expect(requirements.flatMap(({ needs = [] }) => needs).filter((id) => !known.has(id))).toEqual([]);
  });

  it("that say why no check can see them are cited by none", () => {
    const explained = requirements.filter(
      ({ untestable, unobservable }) => (untestable ?? unobservable) !== undefined,
    );
    const cited = new Set(suites.flatMap((suite) => [...citedIds(suite)]));
    expect(explained.filter(({ id }) => cited.has(id)).map(({ id }) => id)).toEqual([]);
  });

  it("that are a choice of this project have its record or a line of choices, and those that no peer can see the test that does", () => {
    const records = readdirSync(new URL("../../docs/adr", import.meta.url)).map((name) => name.slice(0, 4));
    const wrong = requirements.filter(({ id, level, adr, test }) => {
      const isExplained = explained.includes(id);
      const hasReason = adr === undefined ? isExplained : records.includes(adr) && !isExplained;
      const hasTest = test === undefined || existsSync(new URL(`../../${test}`, import.meta.url));
      return !hasTest || (level === "CHOICE" ? !hasReason : adr !== undefined || isExplained);
    });
    expect(wrong.map(({ id }) => id)).toEqual([]);
    expect(explained.filter((id) => !requirements.some((requirement) => requirement.id === id))).toEqual([]);
  });
});
