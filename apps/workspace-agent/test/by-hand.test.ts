import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

/** The built program, as its manifest names it. */
const program = fileURLToPath(new URL("../dist/agent.cjs", import.meta.url));
if (!existsSync(program)) throw new TypeError(`${program} is missing: build it first, npm run build`);

it("says in one line that a core must start it, when it is started by hand", () => {
  const { PATH = "" } = process.env;
  const end = spawnSync(process.execPath, [program], { env: { PATH }, encoding: "utf8" });
  expect(end).toMatchObject({ status: 1, stdout: "" });
  expect(end.stderr).toMatch(
    /^harnesskit-workspace-agent: HARNESS_AGENT_SOCKET and .* started by a core\..*\n$/,
  );
});
