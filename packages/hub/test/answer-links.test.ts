import { request } from "node:http";
import { hubPaths } from "@harnesskit/protocol/hub";
import { createManualClock } from "@harnesskit/wire/testing";
import { describe, expect, it } from "vitest";
import { AnswerLinks } from "../src/node/answer-links.ts";
import { call, openHub } from "./support/open-hub.ts";

const post = (url: string, path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(new URL(path, url), {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });

const tokenIn = (link: string) => link.slice(link.indexOf("#") + 1);

/** A hub with one question that waits, and its link. */
const openAsked = async () => {
  const hub = await openHub();
  const agent = await hub.agent("codex");
  const asking = agent.decide("pre_action", call("npm publish", "c1"));
  await expect.poll(async () => (await hub.approvals.page()).records.length).toBe(1);
  const [record] = (await hub.approvals.page()).records;
  if (record === undefined) throw new Error("nothing was asked");
  const link = hub.served.answerLink(record, { for: "phone", forMs: 60_000 });
  return { hub, asking, record, link, token: tokenIn(link), url: hub.served.url };
};

describe("a link in a notice", () => {
  it("shows the approval and answers it once, as the one who received it", async () => {
    const { hub, asking, record, link, token, url } = await openAsked();
    await using _ = hub;
    expect(link.startsWith(`${url}/answer.html#`)).toBe(true);
    const view = await post(url, hubPaths.answerView, { token });
    expect(view.headers.get("cache-control")).toBe("no-store");
    expect(await view.json()).toMatchObject({ record: { id: record.id, status: "pending" } });
    const said = await post(url, hubPaths.answer, { token, decision: "reject", note: "not today" });
    expect(await said.json()).toMatchObject({
      record: { status: "rejected", answer: { by: "phone (signed link)", note: "not today" } },
    });
    await asking;
    const again = await post(url, hubPaths.answer, { token, decision: "approve" });
    expect(again.status).toBe(409);
    expect(await again.text()).toContain("rejected by phone (signed link)");
    const over = await post(url, hubPaths.answerView, { token });
    expect(over.status).toBe(410);
    expect(await over.text()).not.toContain("npm publish");
    // A link that was used takes nothing of the answers that all may give in a minute.
    for (let time = 0; time < 200; time++) await post(url, hubPaths.answer, { token, decision: "approve" });
    expect((await post(url, hubPaths.answer, { token, decision: "approve" })).status).toBe(409);
    expect(hub.entries).toContainEqual(
      expect.objectContaining({
        ...{ action: "hub.answer", outcome: "ok" },
        details: expect.objectContaining({ by: "phone (signed link)", decision: "reject" }),
      }),
    );
  });

  it("does nothing when a program looks at it, for another page, and with more than an answer", async () => {
    const { hub, record, token, url } = await openAsked();
    await using _ = hub;
    for (const path of [hubPaths.answerView, hubPaths.answer]) {
      expect((await fetch(new URL(path, url))).status).toBe(405);
    }
    const evil = await post(
      url,
      hubPaths.answer,
      { token, decision: "approve" },
      { origin: "https://evil.example" },
    );
    expect(evil.status).toBe(403);
    // A grant is given in the hub's page only.
    const always = { match: "exact" };
    await post(url, hubPaths.answer, { token, decision: "reject", always });
    expect(await hub.approvals.grants()).toEqual([]);
    expect((await hub.approvals.get(record.id))?.answer).not.toHaveProperty("gaveGrantId");
  });

  it.each([
    ["changed", (token: string) => token.replace(/^./, (first) => (first === "W" ? "X" : "W"))],
    ["cut", (token: string) => token.slice(0, -1)],
    ["without a signature", (token: string) => token.split(".")[0] ?? ""],
    ["with a third part", (token: string) => `${token}.x`],
    ["empty", () => ""],
    ["too long", () => "x".repeat(3000)],
  ])("is refused when it is %s, and that is recorded", async (_name, change) => {
    const { hub, record, token, url } = await openAsked();
    await using _ = hub;
    const said = await post(url, hubPaths.answer, { token: change(token), decision: "approve" });
    expect(said.status).toBe(401);
    expect((await hub.approvals.get(record.id))?.status).toBe("pending");
    expect(hub.entries).toContainEqual(
      expect.objectContaining({ action: "hub.request", outcome: "refused" }),
    );
    expect(JSON.stringify(hub.entries)).not.toContain(token);
  });

  it("ends after its time, with the question, and with the hub's token", async () => {
    const { hub, record } = await openAsked();
    await using _ = hub;
    const clock = createManualClock(record.createdAtMs);
    const links = new AnswerLinks("a token", clock);
    const short = links.token(record, { for: "phone", forMs: 60_000 });
    const long = links.token(record, { for: "phone", forMs: 10 * 365 * 86_400_000 });
    expect(links.read(short)).toEqual({ id: record.id, digest: record.digest, for: "phone" });
    expect(new AnswerLinks("another token", clock).read(short)).toBeUndefined();
    clock.advance(60_000);
    expect(links.read(short)).toBeUndefined();
    expect(links.read(long)).toBeDefined();
    clock.advance(record.expiresAtMs - clock.now());
    expect(links.read(long)).toBeUndefined();
  });
});

describe("a public URL", () => {
  const statusFor = (url: string, host: string, origin?: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const { hostname, port } = new URL(url);
      const headers = { host, ...(origin !== undefined && { origin }) };
      request({ hostname, port, path: hubPaths.answerView, method: "POST", headers }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      })
        .once("error", reject)
        .end();
    });

  it("is taken beside loopback, and begins all links; other hosts and origins are refused", async () => {
    await using hub = await openHub({ publicUrl: "https://hub.example.org/" });
    const { url } = hub.served;
    expect(hub.served.devices.pair({ may: "look" }).link).toMatch(/^https:\/\/hub\.example\.org\/#pair=/);
    expect(hub.served.openLink().startsWith(`${url}/#ticket=`)).toBe(true);
    expect(hub.served.pageLink("apr_1")).toBe("https://hub.example.org/#/inbox/apr_1");
    expect(await statusFor(url, "hub.example.org", "https://hub.example.org")).toBe(401);
    expect(await statusFor(url, new URL(url).host)).toBe(401);
    expect(await statusFor(url, "hub.example.org", "http://hub.example.org")).toBe(403);
    expect(await statusFor(url, "evil.example")).toBe(403);
  });
});
