import { readFile, stat, writeFile } from "node:fs/promises";
import { request } from "node:https";
import { type DeviceRights, hubPaths } from "@harnesskit/protocol/hub";
import { createWebSocketTransport } from "@harnesskit/transport-http/node";
import { createManualClock } from "@harnesskit/wire/testing";
import { describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { freePort, temporaryDirectory, until } from "../../../test-kit/test-kit.ts";
import { createHubClient, type HubClient } from "../src/client/index.ts";
import { openHub } from "./support/open-hub.ts";

type OpenedHub = Awaited<ReturnType<typeof openHub>>;

const origin = "https://hub.example.org";
/** A hub behind a proxy with TLS, which the tests play. */
const openPublicHub = (options: Parameters<typeof openHub>[0] = {}) =>
  openHub({ publicUrl: origin, ...options });

const post = (hub: OpenedHub, path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(new URL(path, hub.served.url), {
    method: "POST",
    headers: { "content-type": "application/json", origin, ...headers },
    body: JSON.stringify(body),
  });

const redeem = (hub: OpenedHub, code: string, from = origin, name = "Pixel") =>
  post(hub, hubPaths.pair, { code, name }, { origin: from });

const pair = async (hub: OpenedHub, rights: DeviceRights = { may: "answer" }, name = "Anna's phone") => {
  const { link } = hub.served.devices.pair({ ...rights, name });
  const response = await redeem(hub, link.split("#pair=")[1] ?? "");
  expect(response.status).toBe(200);
  return (await response.json()) as { token: string; device: { id: string; name: string } };
};

const ticketFor = (hub: OpenedHub, token: string, from = origin) =>
  post(hub, hubPaths.ticket, {}, { origin: from, authorization: `Bearer ${token}` });

/** A client at a device, as its page is one. */
const connect = async (hub: OpenedHub, token: string): Promise<HubClient> => {
  const { ticket } = (await (await ticketFor(hub, token)).json()) as { ticket: string };
  const client = createHubClient({
    transport: createWebSocketTransport({
      url: `${hub.served.url.replace("http", "ws")}${hubPaths.api}?token=${ticket}`,
      headers: { origin },
    }),
    client: { name: "page" },
    reconnect: false,
  });
  await client.connect();
  return client;
};

const refusals = (hub: OpenedHub) =>
  hub.entries
    .filter(({ action, outcome }) => action.startsWith("hub.device.") && outcome === "refused")
    .map(({ details }) => details?.reason);

const ask = async (
  hub: OpenedHub,
  level: "low" | "medium" | "high" | "critical" | "unknown",
  command: string,
) =>
  (
    await hub.approvals.ask({
      origin: { agent: "codex", session: "s1" },
      subject: { tool: "bash", input: { command } },
      risk: { level, reasons: [] },
      rule: { id: "commands", reason: "it runs a command" },
    })
  ).record;

describe("a pairing link", () => {
  it("pairs one device, which is named, listed and kept with the hash of its credential only", async () => {
    await using hub = await openPublicHub();
    const client = await hub.client();
    const { link, code, expiresAtMs } = await client.call("devices.pair", { may: "answer", upTo: "medium" });
    expect([link, code]).toEqual([`${origin}/#pair=${code}`, expect.stringMatching(/^(\w{4}-){2}\w{4}$/)]);
    expect(expiresAtMs - Date.now()).toBeLessThanOrEqual(300_000);
    // As it may be typed.
    const response = await redeem(hub, code.toLowerCase().replaceAll("-", " ").replaceAll("0", "o"));
    const { token, device } = (await response.json()) as { token: string; device: object };
    expect(device).toMatchObject({
      name: "Pixel",
      may: "answer",
      upTo: "medium",
      origin,
      isConnected: false,
    });
    expect((await client.call("devices.list")).devices).toEqual([device]);
    const { devicesFile } = hub.place;
    expect((await stat(devicesFile)).mode & 0o777).toBe(0o600);
    const text = await readFile(devicesFile, "utf8");
    expect(text).not.toContain(token.split(".").at(-1));
    expect(JSON.stringify(hub.entries)).not.toContain(token.split(".").at(-1));
    const phone = await connect(hub, token);
    expect(phone.introduction).toMatchObject({
      by: "ada on Pixel",
      pushKey: "push-key",
      device: { name: "Pixel" },
    });
    expect((await client.call("devices.list")).devices).toMatchObject([{ isConnected: true }]);
    await phone.close();
  });

  it("is refused a second time, after five minutes, at another origin and where it was never given; each is logged", async () => {
    const clock = createManualClock();
    await using hub = await openPublicHub({ clock });
    const codeOf = () => hub.served.devices.pair({ may: "look" }).code;
    const [used, late] = [codeOf(), codeOf()];
    expect((await redeem(hub, used, hub.served.url)).status).toBe(401);
    expect((await redeem(hub, used, "https://evil.example")).status).toBe(403);
    expect((await redeem(hub, used)).status).toBe(200);
    const again = await redeem(hub, used);
    expect([again.status, await again.text()]).toEqual([401, expect.stringContaining("used before")]);
    clock.advance(300_000);
    expect((await redeem(hub, late)).status).toBe(401);
    expect((await redeem(hub, "0000-0000-0000")).status).toBe(401);
    expect(refusals(hub)).toEqual(["wrong_origin", "pairing_used", "pairing_expired", "pairing_unknown"]);
    expect(hub.served.devices.list()).toHaveLength(1);
  });

  it.each([
    ["no public URL", undefined],
    ["a public URL without TLS", "http://hub.example.org"],
  ])("is not given with %s", async (_name, publicUrl) => {
    await using hub = await openHub({ publicUrl });
    const client = await hub.client();
    await expect(client.call("devices.pair", { may: "look" })).rejects.toMatchObject({
      name: "HubError",
      code: "tls_required",
      message: expect.stringContaining("--public-url"),
    });
  });
});

describe("a device", () => {
  it("is admitted at its origin alone, also by a ticket, and never as an agent or the hub's user", async () => {
    await using hub = await openPublicHub();
    const { token } = await pair(hub);
    expect((await ticketFor(hub, token, hub.served.url)).status).toBe(401);
    expect((await ticketFor(hub, `${token}x`)).status).toBe(401);
    expect((await ticketFor(hub, "device.dev_0.x")).status).toBe(401);
    expect((await post(hub, hubPaths.ahp, {}, { authorization: `Bearer ${token}` })).status).toBe(401);
    expect((await post(hub, hubPaths.open, {}, { authorization: `Bearer ${token}` })).status).toBe(401);
    expect(refusals(hub)).toEqual(["wrong_origin", "device_unknown", "device_unknown"]);
    // A ticket of it is taken at its origin only.
    const { ticket } = (await (await ticketFor(hub, token)).json()) as { ticket: string };
    const socket = new WebSocket(`${hub.served.url.replace("http", "ws")}${hubPaths.api}?token=${ticket}`, {
      headers: { origin: hub.served.url },
    });
    const status = await new Promise((resolve) => {
      socket.once("unexpected-response", (_, { statusCode }) => resolve(statusCode));
      socket.once("open", () => resolve(101));
    });
    expect(status).toBe(401);
  });

  it("that looks reads all, and answers, revokes, pairs and lists nothing", async () => {
    await using hub = await openPublicHub();
    const phone = await connect(hub, (await pair(hub, { may: "look" })).token);
    const { id, digest } = await ask(hub, "low", "npm test");
    expect((await phone.call("inbox.list")).records).toHaveLength(1);
    const looksOnly = { name: "HubError", code: "device_only_looks" };
    const userOnly = { name: "HubError", code: "not_for_devices" };
    await expect(phone.call("inbox.answer", { id, digest, decision: "reject" })).rejects.toMatchObject(
      looksOnly,
    );
    await expect(phone.call("grants.revoke", { id: "g" })).rejects.toMatchObject(looksOnly);
    await expect(phone.call("devices.pair", { may: "answer" })).rejects.toMatchObject(userOnly);
    await expect(phone.call("devices.list")).rejects.toMatchObject(userOnly);
    await expect(phone.call("policy.backtest")).rejects.toMatchObject(userOnly);
    await expect(phone.call("policy.check", { text: "x" })).rejects.toMatchObject(userOnly);
    await expect(phone.call("policy.save", { text: "x", was: "y" })).rejects.toMatchObject(userOnly);
    expect(refusals(hub)).toHaveLength(7);
    await phone.close();
  });

  it("answers up to its risk, an unknown one as high, and gives grants for exactly what it answers", async () => {
    await using hub = await openPublicHub();
    const phone = await connect(hub, (await pair(hub, { may: "answer", upTo: "medium" })).token);
    const beyond = { name: "HubError", code: "beyond_device" };
    for (const level of ["high", "critical", "unknown"] as const) {
      const { id, digest } = await ask(hub, level, `make ${level}`);
      await expect(phone.call("inbox.answer", { id, digest, decision: "approve" })).rejects.toMatchObject(
        beyond,
      );
      expect((await hub.approvals.get(id))?.status).toBe("pending");
    }
    const { id, digest } = await ask(hub, "medium", "npm test");
    const answer = { id, digest, decision: "approve" } as const;
    const wide = { reach: "agent", input: { command: { startsWith: "npm test" } } } as const;
    await expect(phone.call("inbox.answer", { ...answer, always: wide })).rejects.toMatchObject(beyond);
    const { record } = await phone.call("inbox.answer", {
      ...answer,
      always: { reach: "session", forMs: 900_000 },
    });
    expect(record.answer).toMatchObject({ by: "ada on Anna's phone" });
    const logged = hub.entries.filter(({ action }) => action === "hub.answer");
    expect(logged.map(({ outcome, details }) => [outcome, details?.reason, details?.by])).toEqual([
      ...Array.from({ length: 4 }, () => ["refused", "beyond_device", "ada on Anna's phone"]),
      ["ok", undefined, "ada on Anna's phone"],
    ]);
    await phone.close();
  });

  it("that is revoked loses its open connections at once, its tickets and its credential, over a restart too", async () => {
    await using directory = await temporaryDirectory();
    const hub = await openPublicHub({ state: directory.path });
    const [stolen, kept] = [await pair(hub), await pair(hub, { may: "answer" }, "Tablet")];
    const { ticket } = (await (await ticketFor(hub, stolen.token)).json()) as { ticket: string };
    const [thief, tablet] = [await connect(hub, stolen.token), await connect(hub, kept.token)];
    const seen: string[] = [];
    const watching = (async () => {
      for await (const { id } of thief.watchInbox()) seen.push(id);
    })().catch(() => {});
    const client = await hub.client();
    await expect(tablet.call("devices.revoke", { id: stolen.device.id })).rejects.toMatchObject({
      code: "not_for_devices",
    });
    const { device } = await client.call("devices.revoke", { id: stolen.device.id });
    expect(device.revokedAtMs).toBeGreaterThan(0);
    await ask(hub, "low", "npm test");
    await watching;
    expect(seen).toEqual([]);
    await expect(thief.call("inbox.list")).rejects.toMatchObject({ code: "connection_closed" });
    expect((await tablet.call("inbox.list")).records).toHaveLength(1);
    const transport = createWebSocketTransport({
      url: `${hub.served.url.replace("http", "ws")}${hubPaths.api}?token=${ticket}`,
      headers: { origin },
    });
    await expect(
      createHubClient({ transport, client: { name: "page" }, reconnect: false }).connect(),
    ).rejects.toMatchObject({ name: "HttpStatusError", status: 401 });
    expect((await ticketFor(hub, stolen.token)).status).toBe(401);
    expect(refusals(hub)).toEqual(["device_revoked"]);
    await expect(client.call("devices.revoke", { id: "dev_0" })).rejects.toMatchObject({
      code: "device_not_found",
    });
    await tablet.close();
    await hub[Symbol.asyncDispose]();
    await using next = await openPublicHub({ state: directory.path });
    expect((await ticketFor(next, stolen.token)).status).toBe(401);
    expect((await ticketFor(next, kept.token)).status).toBe(200);
    expect(next.served.devices.list()).toMatchObject([{ name: "Tablet" }, { name: "Anna's phone" }]);
  });

  it("signs itself out", async () => {
    await using hub = await openPublicHub();
    const { token, device } = await pair(hub, { may: "look" });
    const phone = await connect(hub, token);
    await phone.call("devices.revoke", { id: device.id }).catch(() => {});
    await until(() => phone.state !== "ready");
    expect((await ticketFor(hub, token)).status).toBe(401);
  });

  it("names where its pushes go: a push service that browsers use, and no host of its choice", async () => {
    await using hub = await openPublicHub();
    const phone = await connect(hub, (await pair(hub, { may: "look" })).token);
    const keys = { p256dh: "p", auth: "a" };
    const bad = [
      "https://10.0.0.1/x",
      "http://localhost:1/x",
      "https://evil.example/push.apple.com",
      "https://fcm.googleapis.com:444/x",
      "http://fcm.googleapis.com/x",
    ];
    for (const endpoint of bad) {
      await expect(
        phone.call("devices.subscribe", { subscription: { endpoint, keys } }),
        endpoint,
      ).rejects.toMatchObject({ code: "push_refused" });
    }
    const endpoint = "https://web.push.apple.com/abc";
    await phone.call("devices.subscribe", { subscription: { endpoint, keys } });
    expect([...hub.served.devices.subscriptions().values()]).toEqual([{ endpoint, keys }]);
    await phone.call("devices.subscribe", {});
    expect(hub.served.devices.subscriptions().size).toBe(0);
    await phone.close();
  });

  it("does not find a hub whose list of devices is damaged, or can be read by others", async () => {
    await using directory = await temporaryDirectory();
    const hub = await openPublicHub({ state: directory.path });
    await pair(hub);
    await hub[Symbol.asyncDispose]();
    await writeFile(hub.place.devicesFile, "[{]");
    await expect(openPublicHub({ state: directory.path })).rejects.toMatchObject({
      name: "HarnessError",
      code: "insecure_device_file",
    });
  });
});

describe("a page's session", () => {
  it("is of this machine: it opens nothing where devices come in", async () => {
    await using hub = await openPublicHub();
    const ticket = /#ticket=(.+)$/.exec(hub.served.openLink())?.[1];
    const opened = await post(hub, hubPaths.session, { ticket }, { origin: hub.served.url });
    const { token } = (await opened.json()) as { token: string };
    expect((await ticketFor(hub, token, hub.served.url)).status).toBe(200);
    expect((await ticketFor(hub, token)).status).toBe(401);
  });
});

describe("a hub with a certificate", () => {
  const fixture = (name: string) =>
    readFile(new URL(`../../transport-http/test/fixtures/${name}`, import.meta.url), "utf8");

  it("serves its page and pairs by TLS itself, and takes no agent there", async () => {
    const [cert, key, port] = [
      await fixture("localhost-cert.pem"),
      await fixture("localhost-key.pem"),
      await freePort(),
    ];
    const publicUrl = `https://localhost:${port}`;
    await using hub = await openHub({ publicUrl, tls: { cert, key } });
    const send = (path: string, body: unknown, headers: Record<string, string> = {}) =>
      new Promise<{ status: number; text: string }>((resolve, reject) => {
        const sent = request(new URL(path, publicUrl), {
          ca: cert,
          method: "POST",
          headers: { "content-type": "application/json", origin: publicUrl, ...headers },
        });
        sent.once("error", reject).once("response", async (response) => {
          let text = "";
          for await (const part of response) text += part;
          resolve({ status: response.statusCode ?? 0, text });
        });
        sent.end(JSON.stringify(body));
      });
    const { code } = hub.served.devices.pair({ may: "answer" });
    const paired = await send(hubPaths.pair, { code, name: "Pixel" });
    expect(paired.status).toBe(200);
    const { token } = JSON.parse(paired.text) as { token: string };
    const authorization = `Bearer ${token}`;
    const { ticket } = JSON.parse((await send(hubPaths.ticket, {}, { authorization })).text) as {
      ticket: string;
    };
    const hubToken = (await readFile(hub.place.tokenFile, "utf8")).trim();
    expect((await send(hubPaths.ahp, {}, { authorization: `Bearer ${hubToken}` })).status).not.toBe(200);
    const socket = new WebSocket(`wss://localhost:${port}${hubPaths.api}?token=${ticket}`, {
      ca: cert,
      headers: { origin: publicUrl },
    });
    await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
    await until(() => hub.served.devices.list()[0]?.isConnected === true);
    const closed = new Promise((resolve) => socket.once("close", resolve));
    await hub.served.devices.revoke(hub.served.devices.list()[0]?.id ?? "", "ada");
    await closed;
  });

  it("needs a public URL by TLS", async () => {
    const tls = { cert: await fixture("localhost-cert.pem"), key: await fixture("localhost-key.pem") };
    await expect(openHub({ tls })).rejects.toMatchObject({ code: "invalid_argument" });
  });
});
