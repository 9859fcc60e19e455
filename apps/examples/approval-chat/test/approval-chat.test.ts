import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";

const program = fileURLToPath(new URL("../server.mjs", import.meta.url));

/** The server in a directory; killed with the test at the latest. */
const startServer = async (cwd: string): Promise<{ url: string; kill: () => Promise<void> }> => {
  const child: ChildProcess = spawn(process.execPath, [program], {
    cwd,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "close");
  const kill = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  onTestFinished(kill);
  const [url] = (await once(createInterface({ input: child.stdout as NodeJS.ReadableStream }), "line")) as [
    string,
  ];
  return { url, kill };
};

const say = async (url: string, message: string) => {
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${url}/chat/anna`, {
    method: "POST",
    headers,
    body: JSON.stringify({ message }),
  });
  return (await response.json()) as { reply?: string; waits_for?: string };
};

it("waits for an approval by a link, which a later process takes, once", async () => {
  const cwd = await mkdtemp(join(tmpdir(), "harness-approval-chat-"));
  onTestFinished(() => rm(cwd, { recursive: true, force: true }));
  const first = await startServer(cwd);
  const { waits_for: link = "none" } = await say(first.url, "write <b>.txt: two litres");
  expect(link).toMatch(/^\/approve\/[0-9a-f-]{36}\.1\.1$/);
  await first.kill();

  const { url } = await startServer(cwd);
  const page = await fetch(url + link);
  const html = await page.text();
  expect(page.status).toBe(200);
  expect(html).toContain("Call write?");
  expect(html).not.toContain("<b>");
  await expect(readFile(join(cwd, "notes/<b>.txt"))).rejects.toMatchObject({ code: "ENOENT" });

  // The conversation goes on beside it.
  expect((await say(url, "describe this repository")).reply).toEqual(expect.any(String));
  const digest = /name="digest" value="([^"]+)"/.exec(html)?.[1] ?? "";
  const answer = (decision: string) =>
    fetch(url + link, { method: "POST", body: new URLSearchParams({ decision, digest }) });
  expect((await answer("perhaps")).status).toBe(400);
  const approved = await answer("approve");
  expect(approved.status).toBe(200);
  expect(((await approved.json()) as { reply: string }).reply).toContain("I wrote `<b>.txt`");
  expect(await readFile(join(cwd, "notes/<b>.txt"), "utf8")).toBe("two litres");
  expect((await answer("approve")).status).toBe(409);
  expect((await fetch(url + link)).status).toBe(404);
  expect((await fetch(`${url}/approve/guessed`, { method: "POST", body: "decision=approve" })).status).toBe(
    404,
  );
  expect((await fetch(`${url}/chat/anna`, { method: "POST", body: '{"message":"hi"}' })).status).toBe(415);
});
