import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makeWorkspace } from "./support/harness.ts";
import { harness } from "./support/in-process.ts";

const spend = async (prompts: readonly string[]) => {
  const cwd = await makeWorkspace();
  for (const prompt of prompts) await harness(["run", "--no-policy", prompt], { cwd });
  return cwd;
};

it("adds up tokens by thread, and costs nothing where the model is ours", async () => {
  const cwd = await spend(["list files", "read README.md"]);
  const { code, stdout } = await harness("threads cost --json", { cwd });
  expect(code).toBe(0);
  const { groups, total, currency } = JSON.parse(stdout);
  expect(currency).toBe("USD");
  expect(groups).toHaveLength(2);
  expect(total).toMatchObject({ turns: 2, cost: 0, turnsWithoutPrice: 0 });
  expect(total.inputTokens).toBe(groups[0].inputTokens + groups[1].inputTokens);
  expect(total.outputTokens).toBeGreaterThan(0);
});

it("uses the prices of the file in $HARNESS_PRICES", async () => {
  const cwd = await spend(["list files"]);
  await writeFile(join(cwd, "prices.json"), JSON.stringify({ planner: { input: 1_000_000, output: 0 } }));
  const env = { HARNESS_PRICES: "prices.json" };
  const own = await harness("threads cost --by model --json", { cwd, env });
  const { groups } = JSON.parse(own.stdout);
  expect(groups).toEqual([expect.objectContaining({ name: "planner", cost: groups[0].inputTokens })]);
  const text = await harness("threads cost --by day --since 1d", { cwd, env });
  expect(text.stdout).toMatch(
    /cost .* turns {2}day\n[─ ]+\n *\$[\d.]+ .* 1 {2}\d{4}-\d\d-\d\d\n *\$[\d.]+ .* 1 {2}total\n$/,
  );
});

it("a run ends with what its turn cost, where that is known and not nothing", async () => {
  const cwd = await makeWorkspace({
    "prices.json": JSON.stringify({ planner: { input: 1_000_000, output: 0 } }),
    "none.json": "{}",
  });
  const run = (prices: string) =>
    harness("run --no-policy 'list files'", { cwd, env: { HARNESS_PRICES: prices } });
  expect((await run("prices.json")).stderr).toMatch(/\n\$\d+\.00 · to go on: [^\n]*\n$/);
  for (const prices of ["none.json", "missing.json", ""]) {
    const { code, stderr } = await run(prices);
    expect([prices, code, stderr.includes("$")]).toEqual([prices, 0, false]);
  }
});

it("says which model has no price, and never that it costs nothing", async () => {
  const cwd = await spend(["list files"]);
  await writeFile(join(cwd, "prices.json"), "{}");
  const { stdout } = await harness("threads cost --by agent", {
    ...{ cwd, env: { HARNESS_PRICES: "prices.json" } },
  });
  expect(stdout).toMatch(/^ *\? .* 1 {2}code$/m);
  expect(stdout).toContain("No price is known for planner: set one in the file of HARNESS_PRICES");
});

it.each([
  ["missing.json", "ENOENT"],
  ["prices.json", "m.input"],
])("names what is wrong in a file of prices, %s", async (file, problem) => {
  const cwd = await makeWorkspace({ "prices.json": JSON.stringify({ m: { input: "3", output: 1 } }) });
  const { code, stderr } = await harness("threads cost", { cwd, env: { HARNESS_PRICES: file } });
  expect(code).toBe(2);
  expect(stderr).toContain(problem);
});
