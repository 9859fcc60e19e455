import { faults } from "./inflict.mjs";
import { steps } from "./steps.mjs";

const faultNames = Object.keys(faults);
const stepNames = Object.keys(steps);

/**
 * The cells of the story with this number, each fault and each step once: so many stories in a row as there are faults
 * have all pairs.
 */
export const cellsOf = (number) =>
  faultNames.map((fault, index) => ({ fault, step: stepNames[(index + number) % stepNames.length] }));

/** What was done and what became of it, by fault and step. */
export class Tally {
  #rows = new Map();

  struck(cell) {
    this.#row(cell).times += 1;
  }

  made(cell) {
    this.#row(cell).made += 1;
  }

  /** Processes that were left. */
  left(cell, orphans) {
    this.#row(cell).orphans += orphans;
  }

  settled(cell, code) {
    const { codes } = this.#row(cell);
    codes.set(code, (codes.get(code) ?? 0) + 1);
  }

  restarted(cell, times) {
    this.#row(cell).restarts += times;
  }

  /** Adds what another one has. */
  add(other) {
    for (const row of other.#rows.values()) addTo(this.#row(row), row);
  }

  get times() {
    return [...this.#rows.values()].reduce((sum, { times }) => sum + times, 0);
  }

  /** One row in Markdown for each fault and step that there was, and one of all. */
  get table() {
    const rows = faultNames.flatMap((fault) =>
      stepNames.flatMap((step) => this.#rows.get(`${fault}/${step}`) ?? []),
    );
    const lines = rows.map((row) => [row.fault, row.step, ...figuresOf([row])]);
    const head = [
      "fault",
      "step",
      "times",
      "calls, by how they ended",
      "unaccounted for",
      "orphans",
      "restarts",
    ];
    return [head, head.map(() => "---"), ...lines, ["all", "", ...figuresOf(rows)]]
      .map((line) => `| ${line.join(" | ")} |`)
      .join("\n");
  }

  #row({ fault, step }) {
    const key = `${fault}/${step}`;
    const row = this.#rows.get(key) ?? emptyRow(fault, step);
    this.#rows.set(key, row);
    return row;
  }
}

const emptyRow = (fault, step) => ({
  fault,
  step,
  times: 0,
  made: 0,
  codes: new Map(),
  orphans: 0,
  restarts: 0,
});

const addTo = (row, { times, made, codes, orphans, restarts }) => {
  row.times += times;
  row.made += made;
  row.orphans += orphans;
  row.restarts += restarts;
  for (const [code, count] of codes) row.codes.set(code, (row.codes.get(code) ?? 0) + count);
};

const figuresOf = (rows) => {
  const sum = emptyRow();
  for (const row of rows) addTo(sum, row);
  const counts = [...sum.codes].sort(([a], [b]) => (a < b ? -1 : 1));
  const accounted = counts.reduce((total, [, count]) => total + count, 0);
  const codes = counts.map(([code, count]) => `${code} ${count}`).join(", ");
  return [sum.times, codes, sum.made - accounted, sum.orphans, sum.restarts];
};
