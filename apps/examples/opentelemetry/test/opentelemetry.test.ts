import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { durationMetrics } from "@harnesskit/otel";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../../../../test-kit/test-kit.ts";

const here = fileURLToPath(new URL("..", import.meta.url));

describe("the example of OpenTelemetry", () => {
  it("is one trace over four processes, written to a file by the collector, and drawn", async () => {
    await using dir = await temporaryDirectory();
    const [file, picture] = [join(dir.path, "traces.jsonl"), join(dir.path, "trace.svg")];
    const args = ["main.mjs"];
    const given = ["--file", file, "--picture", picture, "--wait", "0.2"];
    const { stdout } = await promisify(execFile)(process.execPath, [...args, ...given], { cwd: here });
    expect(stdout).toContain("1 trace over 4 processes (client, thread server, policy, deployer agent)");
    expect(await readFile(picture, "utf8")).toContain("harness.approval");
  });

  it("has a dashboard whose metrics exist", async () => {
    const text = await readFile(join(here, "dashboard.json"), "utf8");
    const known = [
      ...Object.keys(durationMetrics).map((name) => `${name}_seconds`),
      "gen_ai.client.token.usage",
    ];
    const names = known.map((name) => name.replaceAll(".", "_"));
    const used = [...text.matchAll(/\b((?:harness|gen_ai)_\w+?)_(?:count|bucket|sum)\b/g)].map(
      ([, name]) => name,
    );
    expect(used.length).toBeGreaterThan(7);
    expect(used.filter((name) => !names.includes(name ?? ""))).toEqual([]);
  });
});
