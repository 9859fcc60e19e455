import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const script = fileURLToPath(new URL("../../../../scripts/crash/crash.mjs", import.meta.url));

it("kill -9 of a process that has conversations in a file, 20 times: the ledger of its clients is kept", async () => {
  const args = [script, "--only", "chat", "--kills", "20", "--lanes", "1", "--seed", "20261122"];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, "close")]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("violations: 0") });
  const figures = Object.fromEntries(
    [...stdout.matchAll(/(\w+): (\d+)/g)].map(([, name, value]) => [name, Number(value)]),
  );
  expect(figures).toMatchObject({ kills: 20, restarts: 20, violations: 0 });
  expect(figures.messages).toBeGreaterThan(15);
  expect(figures.signals).toBeGreaterThan(5);
}, 120_000);
