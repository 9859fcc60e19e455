import { readFileSync, writeFileSync } from "node:fs";

const home = new URL("./line-budgets.json", import.meta.url);

/** How many lines of source each package may have. */
export const lineBudgets = () => JSON.parse(readFileSync(home, "utf8"));

/** A sentence for each package that has more lines than its budget, or none in the table. */
export const budgetProblems = (budgets, lines) =>
  Object.entries(lines).flatMap(([path, count]) => {
    const most = budgets[path];
    if (most === undefined) return [`${path}: has no row in scripts/lib/line-budgets.json`];
    return count > most ? [`${path}: ${count} lines of source; its budget is ${most}, and only falls`] : [];
  });

/** Lowers the budgets to what the packages have now, and gives new packages one. None is raised. */
export const lowerBudgets = (budgets, lines) => {
  const next = Object.entries(lines).map(([path, count]) => [path, Math.min(count, budgets[path] ?? count)]);
  writeFileSync(home, `${JSON.stringify(Object.fromEntries(next.sort()), null, 2)}\n`);
};
