import { describe, expect, it } from "vitest";
import { loadSuite, suiteNames } from "../src/index.ts";
import { citedIds, idsOf } from "../src/scenario/cited-ids.ts";

describe.each(suiteNames())("each MUST of %s", (name) => {
  const suite = loadSuite(name);
  const cited = citedIds(suite);
  const reasons = Object.keys(suite.role.unjudged ?? {}).flatMap(idsOf);

  it("has a check or the reason why it has none", () => {
    const lone = [...suite.requirements.values()].filter(
      ({ id, level, text, unobservable, untestable }) =>
        (level === "MUST" || level === "SAFETY") &&
        !cited.has(id) &&
        !reasons.includes(id) &&
        (unobservable ?? untestable) === undefined &&
        !suite.otherSubjects.some((subject) => text.startsWith(`${subject}:`)),
    );
    expect(lone.map(({ id }) => id)).toEqual([]);
  });

  it("that has a reason is one, and has no check", () => {
    const strange = reasons.filter((id) => cited.has(id) || suite.requirements.get(id) === undefined);
    expect(strange).toEqual([]);
  });
});
