import { once } from "node:events";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { createServer, request } from "node:http";
import { join } from "node:path";
import { createAhpClient } from "@harnesskit/ahp-client";
import { createMemoryApprovalStore } from "@harnesskit/approvals";
import { hubPaths } from "@harnesskit/protocol/hub";
import { createMemoryTimelineStore } from "@harnesskit/timeline";
import { createHttpExchange, createWebSocketTransport } from "@harnesskit/transport-http/node";
import { createManualClock } from "@harnesskit/wire/testing";
import { describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { temporaryDirectory, until } from "../../../test-kit/test-kit.ts";
import { createHubClient } from "../src/client/index.ts";
import { call, openHub } from "./support/open-hub.ts";

type OpenedHub = Awaited<ReturnType<typeof openHub>>;

const post = (url: string, path: string, given: { token?: string; body?: unknown; origin?: string } = {}) =>
  fetch(new URL(path, url), {
    method: "POST",
    headers: {
      ...(given.token !== undefined && { authorization: `Bearer ${given.token}` }),
      ...(given.origin !== undefined && { origin: given.origin }),
      "content-type": "application/json",
    },
    ...(given.body !== undefined && { body: JSON.stringify(given.body) }),
  });

const tokenOf = async ({ place }: OpenedHub) => (await readFile(place.tokenFile, "utf8")).trim();
const ticketIn = (link: string) => /#ticket=(.+)$/.exec(link)?.[1] ?? "";

/** The status that answers an upgrade; 101 where it is taken. */
const upgrade = (url: string, headers: Record<string, string> = {}): Promise<number> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(url.replace("http", "ws"), { headers });
    socket.once("open", () => {
      socket.close();
      resolve(101);
    });
    socket.once("unexpected-response", (_, { statusCode = 0 }) => resolve(statusCode));
    socket.once("error", reject);
  });

/** A request with a Host of its own. */
const statusFor = (url: string, host: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    request({ hostname, port, path: "/", headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .once("error", reject)
      .end();
  });

describe("the hub's places", () => {
  it("are for the user alone, and its sockets go at the end; the token stays", async () => {
    const hub = await openHub();
    const { place } = hub;
    const modeOf = async (path: string) => (await stat(path)).mode & 0o777;
    expect(await modeOf(place.directory)).toBe(0o700);
    expect(await modeOf(place.socket)).toBe(0o600);
    expect(await modeOf(place.apiSocket)).toBe(0o600);
    expect(await modeOf(place.tokenFile)).toBe(0o600);
    expect(JSON.parse(await readFile(place.serverFile, "utf8"))).toEqual({
      url: hub.served.url,
      pid: process.pid,
    });
    await hub.served.close();
    for (const path of [place.socket, place.apiSocket]) {
      await expect(stat(path)).rejects.toMatchObject({ code: "ENOENT" });
    }
    expect(await tokenOf(hub)).toMatch(/^[\w-]{43}$/);
    await hub[Symbol.asyncDispose]();
  });

  it("keep the port over a restart, and another is taken and reported while a program has it", async () => {
    await using directory = await temporaryDirectory();
    const portOf = async () => {
      await using hub = await openHub({ state: directory.path });
      return { port: new URL(hub.served.url).port, errors: [...hub.errors] };
    };
    const { port } = await portOf();
    expect(await portOf()).toEqual({ port, errors: [] });
    const other = createServer().listen(Number(port), "127.0.0.1");
    await once(other, "listening");
    const elsewhere = await portOf();
    expect(elsewhere.port).not.toBe(port);
    expect(elsewhere.errors).toMatchObject([{ code: "address_in_use" }]);
    other.close();
  });

  it("take AHP over HTTP and WebSocket with the token only", async () => {
    await using hub = await openHub();
    const { url } = hub.served;
    const token = await tokenOf(hub);
    const agents = [
      { exchange: createHttpExchange({ url: `${url}/ahp`, credentials: { bearer: token } }) },
      {
        transport: createWebSocketTransport({
          url: `${url.replace("http", "ws")}/ahp`,
          credentials: { bearer: token },
        }),
      },
    ];
    for (const [index, endpoint] of agents.entries()) {
      const agent = createAhpClient({
        ...endpoint,
        ...{ framework: "test", version: "1.0.0", agentId: `agent-${index}`, sessionId: "s1" },
      } as Parameters<typeof createAhpClient>[0]);
      await agent.connect();
      expect((await agent.decide("pre_action", call("a", "c1", "read"))).decision).toMatchObject({
        decision: "allow",
      });
      await agent.close();
    }
    expect((await post(url, hubPaths.ahp, { body: {} })).status).toBe(401);
    expect((await post(url, hubPaths.ahp, { body: {}, token: `${token}x` })).status).toBe(401);
    expect(await upgrade(`${url}/ahp`)).toBe(401);
    const client = await hub.client();
    const { agents: known } = await client.call("agents.list");
    expect(known.map(({ agent, transport, framework }) => [agent, transport, framework])).toEqual(
      expect.arrayContaining([
        ["agent-0", "http", "test"],
        ["agent-1", "websocket", "test"],
      ]),
    );
  });
});

describe("the page's access", () => {
  it("is a link that works once, a session, and a ticket for each WebSocket; the token is in no address", async () => {
    await using hub = await openHub();
    const { url } = hub.served;
    const ticket = ticketIn(hub.served.openLink());
    const opened = await post(url, hubPaths.session, { body: { ticket }, origin: url });
    expect(opened.status).toBe(200);
    const { token } = (await opened.json()) as { token: string };
    expect(token).not.toContain(await tokenOf(hub));
    expect((await post(url, hubPaths.session, { body: { ticket } })).status).toBe(401);
    const socketTicket = async () =>
      ((await (await post(url, hubPaths.ticket, { token })).json()) as { ticket: string }).ticket;
    const one = await socketTicket();
    expect(await upgrade(`${url}/api?token=${one}`, { origin: url })).toBe(101);
    expect(await upgrade(`${url}/api?token=${one}`, { origin: url })).toBe(401);
    // A session opens no socket and no link by itself; the hub's token is not taken from an address.
    expect(await upgrade(`${url}/api?token=${token}`)).toBe(401);
    expect(await upgrade(`${url}/api?token=${await tokenOf(hub)}`)).toBe(401);
    expect((await post(url, hubPaths.open, { token })).status).toBe(401);
    expect((await post(url, hubPaths.ticket)).status).toBe(401);
    expect((await post(url, hubPaths.open, { token: await tokenOf(hub) })).status).toBe(200);
    expect((await post(url, hubPaths.ahp, { token, body: {} })).status).toBe(401);
    const client = createHubClient({
      transport: createWebSocketTransport({
        url: `${url.replace("http", "ws")}/api?token=${await socketTicket()}`,
      }),
      client: { name: "page" },
    });
    expect(await client.connect()).toMatchObject({ by: "ada (page)", version: "1.0.0" });
    await client.close();
  });

  it("is refused to other origins and rebound names, and that is recorded", async () => {
    await using hub = await openHub();
    const { url } = hub.served;
    const ticket = ticketIn(hub.served.openLink());
    const evil = "https://evil.example";
    expect((await post(url, hubPaths.session, { body: { ticket }, origin: evil })).status).toBe(403);
    expect(await upgrade(`${url}/api`, { origin: evil, authorization: `Bearer ${await tokenOf(hub)}` })).toBe(
      403,
    );
    expect(await statusFor(url, "evil.example")).toBe(403);
    expect(await statusFor(url, new URL(url).host)).not.toBe(403);
    const refused = hub.entries.filter(({ action }) => action === "hub.request");
    expect(
      refused.map(({ outcome, details }) => [outcome, details?.status, details?.host, details?.origin]),
    ).toEqual([
      ["refused", 403, new URL(url).host, evil],
      ["refused", 403, new URL(url).host, evil],
      ["refused", 403, "evil.example", undefined],
    ]);
    expect(JSON.stringify(hub.entries)).not.toContain(ticket);
  });

  it("serves the built files alone, under a strict policy", async () => {
    await using directory = await temporaryDirectory();
    await mkdir(join(directory.path, "page", "assets"), { recursive: true });
    await writeFile(join(directory.path, "page", "index.html"), "<!doctype html>");
    await writeFile(join(directory.path, "page", "assets", "index-abcdefgh.js"), "1;");
    await writeFile(join(directory.path, "secret"), "s");
    await using hub = await openHub({ pageDirectory: join(directory.path, "page") });
    const get = (path: string) => fetch(new URL(path, hub.served.url));
    const page = await get("/");
    expect(await page.text()).toBe("<!doctype html>");
    expect(page.headers.get("content-security-policy")).toMatch(/^default-src 'none'; script-src 'self';/);
    expect(page.headers.get("content-security-policy")).not.toMatch(/unsafe|\*/);
    expect(page.headers.get("referrer-policy")).toBe("no-referrer");
    const script = await get("/assets/index-abcdefgh.js");
    expect([script.headers.get("content-type"), script.headers.get("cache-control")]).toEqual([
      "text/javascript; charset=utf-8",
      "public, max-age=31536000, immutable",
    ]);
    for (const path of ["/..%2fsecret", "/%2e%2e/secret", "/assets", "/nothing"]) {
      expect((await get(path)).status, path).toBe(404);
    }
    expect((await post(hub.served.url, "/")).status).toBe(405);
  });

  it("says that the page is not built", async () => {
    await using directory = await temporaryDirectory();
    await using hub = await openHub({ pageDirectory: join(directory.path, "none") });
    const answer = await fetch(hub.served.url);
    expect([answer.status, await answer.text()]).toEqual([503, expect.stringContaining("not built")]);
  });
});

describe("a client", () => {
  it("must say hello, and learns what is wrong with its calls", async () => {
    await using hub = await openHub();
    const client = await hub.client();
    await expect(client.call("inbox.get", { id: "apr_0" })).rejects.toMatchObject({
      code: "approval_not_found",
    });
    await expect(client.call("timeline.get", { id: 99 })).rejects.toMatchObject({ code: "row_not_found" });
    await expect(client.call("inbox.list", { limit: 100_000 })).rejects.toMatchObject({
      code: "invalid_params",
    });
    await expect(client.call("policy.backtest", { text: "rules: 1" })).rejects.toMatchObject({
      code: "invalid_policy",
      problems: expect.arrayContaining([expect.objectContaining({ line: 1 })]),
    });
    await expect(client.call("watch.cancel", { watchId: "w" })).rejects.toMatchObject({
      code: "watch_not_found",
    });
  });

  it("watches the inbox and the timeline, over a restart of the hub too", async () => {
    await using directory = await temporaryDirectory();
    const stores = { approvals: createMemoryApprovalStore(), timeline: createMemoryTimelineStore() };
    const first = await openHub({ ...stores, state: directory.path, limits: { holdMs: 0 } });
    const client = await first.client();
    const stop = new AbortController();
    const seen: string[] = [];
    const states: string[] = [];
    const watching = Promise.all([
      (async () => {
        for await (const { id, status } of client.watchInbox({ signal: stop.signal }))
          seen.push(`${id} ${status}`);
      })(),
      (async () => {
        for await (const rows of client.watchTimeline({ signal: stop.signal, filter: { tool: "bash" } })) {
          states.push(...rows.map(({ state }) => state));
        }
      })(),
    ]);
    const agent = await first.agent("codex");
    const { decision } = await agent.decide("pre_action", call("npm test", "c1"));
    expect(decision).toMatchObject({ decision: "defer" });
    await until(() => seen.length === 1 && states.includes("waiting"));
    await agent.close();
    await first.served[Symbol.asyncDispose]();
    await first.hub[Symbol.asyncDispose]();

    await using second = await openHub({ ...stores, state: directory.path });
    const answering = await second.client("other");
    const [record] = (await answering.call("inbox.list", { status: "pending" })).records;
    await answering.call("inbox.answer", {
      id: record?.id ?? "",
      digest: record?.digest ?? "",
      decision: "approve",
    });
    await until(() => seen.length >= 2);
    expect(seen).toEqual([`${record?.id} pending`, `${record?.id} approved`]);
    // The repeated call finds its answer; a kill after that reads as unknown.
    const again = await second.agent("codex");
    expect((await again.decide("pre_action", call("npm test", "c1"))).decision).toMatchObject({
      decision: "allow",
    });
    stop.abort();
    await watching;
    await client.close();
  });

  it("learns what another policy would have decided", async () => {
    await using hub = await openHub();
    const [agent, client] = [await hub.agent("codex"), await hub.client()];
    await agent.decide("pre_action", call("a", "c1", "read"));
    await agent.decide("pre_action", call("rm -rf x", "c2"));
    const text =
      "version: 1\nrules:\n  - name: none\n    when: { tool: read }\n    then: { decision: block, reason: no }\n";
    const result = await client.call("policy.backtest", { text });
    expect(result).toMatchObject({
      decided: 2,
      same: 1,
      changed: 1,
      transitions: { "allow → block": 1, "block → block": 1 },
      changes: [{ was: "allow", now: "block", rule: "none", agent: "codex", summary: "read a" }],
      isPartial: false,
    });
    expect(await client.call("policy.backtest")).toMatchObject({ decided: 2, same: 2 });
  });
});

describe("a question whose asker has gone", () => {
  it("is marked, and not any more when it is asked again, also by the next hub", async () => {
    await using directory = await temporaryDirectory();
    const stores = { approvals: createMemoryApprovalStore(), timeline: createMemoryTimelineStore() };
    const limits = { returnWithinMs: 20 };
    const first = await openHub({ ...stores, state: directory.path, limits });
    const askerIs = (wanted: "here" | "left" | undefined) =>
      until(async () => {
        const { records } = await stores.approvals.page({ status: "pending" });
        return records.length === 1 && records[0]?.asker === wanted;
      });
    const agent = await first.agent("codex");
    void agent.decide("pre_action", call("npm test", "c1"));
    await askerIs(undefined);
    await agent.close();
    await askerIs("left");
    const again = await first.agent("codex");
    void again.decide("pre_action", call("npm test", "c1"));
    await askerIs("here");
    // A hub that ends says nothing of its agents.
    await first.hub.close();
    await first[Symbol.asyncDispose]();
    const clock = createManualClock();
    await using second = await openHub({ ...stores, state: directory.path, limits, clock });
    await askerIs("here");
    clock.advance(60_000);
    await askerIs("left");
    const client = await second.client();
    const [record] = (await client.call("inbox.list")).records;
    expect(record).toMatchObject({ status: "pending", asker: "left" });
  });
});

describe("an action", () => {
  it("whose agent or hub is lost is unknown, and its approval ambiguous, until its agent reports", async () => {
    await using directory = await temporaryDirectory();
    const stores = { approvals: createMemoryApprovalStore(), timeline: createMemoryTimelineStore() };
    const first = await openHub({ ...stores, state: directory.path, limits: { returnWithinMs: 0 } });
    const [agent, client] = [await first.agent("codex"), await first.client()];
    const deciding = agent.decide("pre_action", call("npm test", "c1"));
    await until(async () => (await client.call("inbox.list", { status: "pending" })).records.length === 1);
    const [record] = (await client.call("inbox.list")).records;
    const id = record?.id ?? "";
    await client.call("inbox.answer", { id, digest: record?.digest ?? "", decision: "approve" });
    await deciding;
    await until(async () => (await client.call("timeline.page")).rows[0]?.state === "running");
    await agent.close();
    await until(async () => (await client.call("timeline.page")).rows[0]?.state === "unknown");
    await until(async () => (await first.approvals.get(id))?.effect === "ambiguous");
    await first[Symbol.asyncDispose]();

    await using second = await openHub({ ...stores, state: directory.path });
    const [again, other] = [await second.agent("codex"), await second.client()];
    expect((await other.call("timeline.page")).rows).toMatchObject([{ state: "unknown" }]);
    again.notify("post_action", { ...call("npm test", "c1"), outcome: "success" });
    await until(async () => (await other.call("timeline.page")).rows[0]?.state === "done");
    await until(async () => (await second.approvals.get(id))?.effect === "done");
  });
});
