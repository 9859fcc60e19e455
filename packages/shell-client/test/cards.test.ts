import { checkForm, formRequest, readChart, readForm, readTable } from "@harnesskit/shell-client/cards";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chartLimits } from "../src/cards/chart.ts";
import { formLimits } from "../src/cards/form.ts";
import { tableLimits } from "../src/cards/table.ts";

describe("a table", () => {
  it("takes rows of objects and of lists, with columns or without", () => {
    expect(readTable([{ a: 1, b: "x" }, { a: 2 }])).toEqual({
      columns: [
        { label: "a", isNumeric: true },
        { label: "b", isNumeric: false },
      ],
      rows: [
        ["1", "x"],
        ["2", ""],
      ],
      hiddenRows: 0,
      hiddenColumns: 0,
    });
    const data = {
      columns: [{ key: "b", label: "B\u202e" }, "a"],
      rows: [[true, null], { a: { deep: 1 }, b: 3 }],
    };
    expect(readTable(data)?.columns.map(({ label }) => label)).toEqual(["B⟨U+202E⟩", "a"]);
    expect(readTable(data)?.rows).toEqual([
      ["true", ""],
      ["3", '{"deep":1}'],
    ]);
  });

  it("shows so many rows and columns and says how many it does not", () => {
    const row = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`c${index}`, index]));
    const table = readTable({ rows: Array.from({ length: 10_000 }, () => row) });
    expect(table?.rows).toHaveLength(tableLimits.maxRows);
    expect(table).toMatchObject({ hiddenRows: 9_800, hiddenColumns: 10 });
  });
});

it("a chart takes points, or labels and series, and keeps gaps", () => {
  expect(
    readChart({ points: [{ label: "a", value: 2 }, { value: "none" }, { label: "c", value: -1 }] }),
  ).toEqual({
    kind: "bar",
    labels: ["a", "2", "c"],
    series: [{ name: "", values: [2, undefined, -1] }],
    unit: undefined,
    range: { min: -1, max: 2 },
    hiddenPoints: 0,
    hiddenSeries: 0,
  });
  const series = Array.from({ length: 8 }, (_, index) => ({
    name: `s${index}`,
    values: Array(100).fill(index),
  }));
  const chart = readChart({ kind: "line", series });
  expect(chart?.series).toHaveLength(chartLimits.maxSeries);
  expect(chart?.labels).toHaveLength(chartLimits.maxPoints);
  expect(chart).toMatchObject({ kind: "line", hiddenPoints: 40, hiddenSeries: 2 });
});

describe("a form", () => {
  const form = readForm({
    fields: [
      { name: "name", label: "Name", required: true },
      { name: "age", type: "number", min: 18, max: 99 },
      { name: "day", type: "date" },
      { name: "mail", type: "email" },
      { name: "size", type: "choice", options: ["s", { value: 2, label: "two" }] },
      { name: "agree", type: "checkbox", required: true },
    ],
    submit: { label: "Go", task_hint: { sop_id: "enrol", form_values: "overwritten" } },
  });
  if (form === undefined) throw new ReferenceError("it is a form");

  it("says what is wrong with each value", () => {
    const raw = { name: " ", age: "17", day: "2026-02-30", mail: "me", size: "xl", agree: false };
    expect(checkForm(form, raw)).toEqual({
      isValid: false,
      problems: {
        name: "This is needed.",
        age: "At least 18.",
        day: "Enter a date.",
        mail: "Enter an e-mail address.",
        size: "Choose one of the list.",
        agree: "Tick this box.",
      },
    });
    expect(checkForm(form, { name: "a", agree: true, age: "0x20" })).toMatchObject({
      problems: { age: "Enter a number." },
    });
    const long = "x".repeat(formLimits.maxValueLength + 1);
    expect(checkForm(form, { name: long, agree: true })).toMatchObject({ isValid: false });
  });

  it("sends values of their types, in words and in the hint", () => {
    const checked = checkForm(form, { name: " Ada ", age: "36", day: "", mail: "", size: "2", agree: true });
    expect(checked).toEqual({ isValid: true, values: { name: "Ada", age: 36, size: "2", agree: true } });
    if (!checked.isValid) return;
    expect(formRequest(form, checked.values)).toEqual({
      intent: "Name: Ada\nage: 36\nsize: 2\nagree: yes",
      taskHint: { sop_id: "enrol", form_values: checked.values },
    });
    const named = { ...form, intent: "enrol me" };
    expect(formRequest(named, checked.values).intent).toBe("enrol me");
  });

  it("is none where a field cannot be shown, or two have one name", () => {
    const none = [
      [{ name: "__proto__" }],
      [{ name: "a", type: "password" }],
      [{ name: "a", type: "choice" }],
      [{ name: "a" }, { name: "a" }],
      Array.from({ length: formLimits.maxFields + 1 }, (_, index) => ({ name: `f${index}` })),
      [],
    ];
    for (const fields of none) expect(readForm({ fields })).toBeUndefined();
  });
});

it("reads any value of JSON without a throw, within the limits", () => {
  fc.assert(
    fc.property(
      fc.jsonValue({ maxDepth: 4 }),
      fc.constantFrom("rows", "points", "series", "fields"),
      (value, key) => {
        for (const data of [value, { [key]: value }, { [key]: [value], labels: value, columns: value }]) {
          const table = readTable(data);
          expect(table?.rows.length ?? 0).toBeLessThanOrEqual(tableLimits.maxRows);
          const chart = readChart(data);
          expect(chart === undefined || chart.range.max > chart.range.min).toBe(true);
          const form = readForm(data);
          if (form) expect(checkForm(form, {})).toHaveProperty("isValid");
        }
      },
    ),
  );
});
