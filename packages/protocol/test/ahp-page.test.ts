import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import * as ahp from "../src/ahp/index.ts";
import { JsonRpcErrorCode } from "../src/envelope/index.ts";

const read = (page: string) => readFileSync(new URL(page, import.meta.url), "utf8");
const page = read("../../../docs/supervision.md");

/** The rows of a page's tables with a first cell that fits, cell by cell. */
const rowsOf = (text: string, first: RegExp) =>
  text
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
    .filter(([cell]) => first.test(cell ?? ""));

const codesIn = (cell: string | undefined) =>
  [...(cell ?? "").matchAll(/`([^`]+)`/g)].map(([, code]) => code);

interface ObjectRules {
  readonly properties?: { readonly decision?: { readonly const?: string } };
  readonly required?: readonly string[];
}

const rulesOf = (schema: z.ZodType) =>
  z.toJSONSchema(schema, { io: "input" }) as ObjectRules & { readonly oneOf?: readonly ObjectRules[] };

const kindsOf = (schema: z.ZodType) =>
  (rulesOf(schema).oneOf ?? []).map(({ properties, required }) => ({
    decision: properties?.decision?.const,
    needs: required?.filter((key) => key !== "decision") ?? [],
  }));

/** The part of the page under a heading. */
const section = (heading: string) => page.split("\n## ").find((part) => part.startsWith(heading)) ?? "";

describe("the page about supervision", () => {
  it("lists every event with whether it waits, its decisions, whether it may be in a batch, and its payload", () => {
    const rows = rowsOf(section("Events"), /^`\w+`$/);
    expect(rows.map(([type]) => codesIn(type)[0])).toEqual(Object.keys(ahp.ahpEvents));
    for (const [type, , waits, decisions, batch, fields] of rows) {
      const event = ahp.ahpEvents[codesIn(type)[0] as ahp.AhpEventType];
      const kinds = event.blocking ? kindsOf(event.decision).map(({ decision }) => decision) : [];
      expect([type, waits, batch]).toEqual([
        type,
        event.blocking ? "yes" : "no",
        event.batchable ? "yes" : "no",
      ]);
      expect([type, codesIn(decisions)]).toEqual([type, kinds]);
      expect([type, codesIn(fields)]).toEqual([type, rulesOf(event.payload).required ?? []]);
    }
  });

  it("lists every generic decision with what it must have", () => {
    const rows = rowsOf(section("Decisions"), /^`\w+`$/);
    expect(
      rows.map(([decision, , needs]) => ({ decision: codesIn(decision)[0], needs: codesIn(needs) })),
    ).toEqual(kindsOf(ahp.DecisionSchema));
  });

  it("names every durable contract and every method", () => {
    const contracts = Object.entries(ahp.ahpEvents).filter(([, { contract }]) => contract);
    for (const [type] of contracts) expect(section("Durable contracts")).toContain(`\`${type}\``);
    for (const method of Object.keys(ahp.ahpMethods)) expect(page).toContain(`\`${method}\``);
  });

  it("says for every blocking event what happens when the harness does not answer, with one of its own decisions", () => {
    const rows = rowsOf(section("When the harness does not answer"), /^`/);
    const told = rows.flatMap(([types, decision]) =>
      codesIn(types).map((type) => [type as ahp.AhpEventType, codesIn(decision)[0]] as const),
    );
    const blocking = Object.entries(ahp.ahpEvents).filter(([, event]) => event.blocking);
    expect(told.map(([type]) => type).sort()).toEqual(blocking.map(([type]) => type).sort());
    for (const [type, decision] of told) {
      expect(kindsOf(ahp.ahpEvents[type].decision).map((kind) => kind.decision)).toContain(decision);
    }
  });

  it("lists the default limits and every error code", () => {
    const limits = rowsOf(section("Limits"), /^`\w+`$/).map(([name, value]) => [
      codesIn(name)[0],
      Number((value ?? "").replace(/(\d) (\d)/g, "$1$2").match(/^\d+/)?.[0]),
    ]);
    expect(Object.fromEntries(limits)).toEqual(ahp.defaultAhpLimits);
    const codes = rowsOf(section("Errors"), /^-\d+$/).map(([code]) => Number(code));
    const known = [...Object.values(JsonRpcErrorCode), ...Object.values(ahp.AhpErrorCode)];
    expect(codes.sort()).toEqual([...known].sort());
  });

  it("and the README name the error code of the protocol", () => {
    for (const [name, code] of Object.entries(ahp.AhpErrorCode)) {
      const [row] = rowsOf(read("../README.md"), new RegExp(`^${code}$`));
      expect(codesIn(row?.[1])).toEqual([`AhpErrorCode.${name}`]);
    }
  });
});
