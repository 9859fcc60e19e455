import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { buildSourceBundle } from "../../../scripts/lib/source-bundle.ts";

let bundle: Awaited<ReturnType<typeof buildSourceBundle>>;
beforeAll(async () => {
  bundle = await buildSourceBundle(new URL("./bundle-entry.ts", import.meta.url));
});
afterAll(() => bundle.remove());

const fixture = fileURLToPath(new URL("./fixtures/write-forever.mjs", import.meta.url));

it.each([1, 3, 10, 25, 60])(
  "a writer that is killed after %i writes leaves the last text or the next, whole",
  async (writes) => {
    const directory = await mkdtemp(join(tmpdir(), "node-kit-"));
    const file = join(directory, "file");
    const child = spawn(process.execPath, [fixture, bundle.path, file], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let said = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      said += text;
      if (said.split("\n").length > writes) child.kill("SIGKILL");
    });
    const [, signal] = await once(child, "close");
    expect(signal).toBe("SIGKILL");
    const acknowledged = said.split("\n").length - 1;
    const [number = "", body, end] = (await readFile(file, "utf8")).split("\n");
    expect(end).toBe("end");
    expect(body).toHaveLength(Number(number) * 100);
    expect(Number(number)).toBeGreaterThanOrEqual(acknowledged);
    await rm(directory, { recursive: true });
  },
);
