import { join } from "node:path";
import { hubPaths } from "@harnesskit/protocol/hub";
import { describe, expect, it } from "vitest";
import { qrLines } from "../src/hub/devices.ts";
import { makeWorkspace } from "./support/harness.ts";
import { startHub } from "./support/hub.ts";
import { harness } from "./support/in-process.ts";

const publicUrl = "https://hub.example.org";

/** Pairs as the page on the phone does, behind a proxy with TLS. */
const redeem = async (url: string, link: string, origin = publicUrl) => {
  const response = await fetch(new URL(hubPaths.pair, url), {
    method: "POST",
    headers: { "content-type": "application/json", origin },
    body: JSON.stringify({ code: link.trim().split("#pair=")[1], name: "Pixel" }),
  });
  return {
    status: response.status,
    token: response.ok ? ((await response.json()) as { token: string }).token : "",
  };
};

describe("harness hub --pair", () => {
  it("shows a code for a phone, which is listed, revoked and then refused", async () => {
    const cwd = await makeWorkspace();
    const { env, url, program } = await startHub(cwd, ["--public-url", publicUrl]);
    const run = (...args: string[]) => harness(["hub", ...args], { cwd, env });
    expect((await run("devices")).stdout).toBe("No devices are paired. To pair one: harness hub --pair\n");
    const paired = await run("--pair", "Anna's phone", "--up-to", "medium");
    expect(paired.code).toBe(0);
    expect(paired.stdout).toMatch(/^https:\/\/hub\.example\.org\/#pair=(\w{4}-){2}\w{4}\n$/);
    expect(paired.stderr).toContain(qrLines(paired.stdout.trim(), false).join("\n"));
    expect(paired.stderr.replace(/\s+/g, " ")).toContain(
      "may answer up to a medium risk, within five minutes",
    );
    const { status, token } = await redeem(url, paired.stdout);
    expect(status).toBe(200);
    await program.reports(/pair: device dev_\S+, name Anna's phone, may answer, upTo medium/);
    const listed = await run("devices");
    expect(listed.stdout).toMatch(
      /^dev_\S+ {2}Anna's phone: may answer up to a medium risk; seen .+ ago, at https:\/\/hub\.example\.org\n$/,
    );
    const [device] = (await run("devices", "--json")).stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(device).toMatchObject({ name: "Anna's phone", isConnected: false });
    expect((await run("devices", "--revoke", device.id)).stdout).toMatch(/revoked .+ ago/);
    const refused = await fetch(new URL(hubPaths.ticket, url), {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, origin: publicUrl },
    });
    expect(refused.status).toBe(401);
    await program.reports(/refused: reason device_revoked/);
    const none = await run("devices", "--revoke", "dev_0");
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining("There is no device dev_0")]);
  }, 120_000);

  it("is refused without TLS, by a hub that runs and by one that would start, and says what to do", async () => {
    const cwd = await makeWorkspace();
    const { env } = await startHub(cwd);
    const running = await harness(["hub", "--pair"], { cwd, env });
    const own = { ...env, XDG_STATE_HOME: join(cwd, "other") };
    const starting = await harness(["hub", "--pair", "--public-url", "http://hub.example.org"], {
      cwd,
      env: own,
    });
    for (const { code, stdout, stderr } of [running, starting]) {
      expect([code, stdout]).toEqual([3, ""]);
      expect(stderr.replace(/\s+/g, " ")).toContain("no device is paired without TLS");
      expect(stderr).toContain("cloudflared tunnel");
    }
  }, 120_000);
});
