import type { BrowserContext, Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { expectQuiet, pageTests } from "./support/hub-page.ts";
import type { OpenHub } from "./support/open-hub.ts";

const tests = pageTests();

/** No push service is here: the browser's subscription is one of the test's. */
const fakePushManager = ({ endpoint }: { readonly endpoint: string }) => {
  const subscription = {
    toJSON: () => ({ endpoint, keys: { p256dh: "p256dh-of-the-browser", auth: "auth" } }),
    unsubscribe: async () => true,
  };
  Object.defineProperties(PushManager.prototype, {
    subscribe: { value: async () => subscription },
    getSubscription: { value: async () => subscription },
  });
};

const openPhone = async (hub: OpenHub) => {
  const context = await tests.context({ viewport: { width: 390, height: 844 } });
  await context.grantPermissions(["notifications"], { origin: hub.publicUrl });
  const page = await context.newPage();
  await page.addInitScript(fakePushManager, { endpoint: "http://127.0.0.1:9/push/1" });
  await page.goto(hub.devices.pair({ may: "answer", name: "Anna's phone" }).link);
  await page.getByRole("button", { name: "Pair this device" }).click();
  await page.getByText("Connected").waitFor();
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
  return { context, page };
};

/** Hands a push to the page's worker, as the browser does. */
const deliver = async (context: BrowserContext, page: Page, origin: string, data: string): Promise<void> => {
  const session = await context.newCDPSession(page);
  const registration = new Promise<string>((resolve) => {
    session.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
      const [found] = registrations;
      if (found !== undefined) resolve(found.registrationId);
    });
  });
  await session.send("ServiceWorker.enable");
  await session.send("ServiceWorker.deliverPushMessage", {
    origin,
    registrationId: await registration,
    data,
  });
};

const notices = (page: Page) =>
  page.evaluate(async () => {
    const registration = await navigator.serviceWorker.ready;
    return (await registration.getNotifications()).map(({ title, body }) => ({ title, body }));
  });

describe("the page on a paired device", () => {
  it("can be installed: it has a manifest with icons, and a worker", async () => {
    const { hub } = await tests.open();
    const { context, page } = await openPhone(hub);
    const session = await context.newCDPSession(page);
    const { errors, data } = await session.send("Page.getAppManifest");
    expect(errors).toEqual([]);
    const manifest = JSON.parse(data ?? "{}") as { icons: { src: string; sizes: string }[] };
    for (const { src, sizes } of manifest.icons) {
      const width = await page.evaluate(async (url) => {
        const image = new Image();
        image.src = url;
        await image.decode();
        return image.naturalWidth;
      }, src);
      expect(`${width}x${width}`).toBe(sizes);
    }
    const { installabilityErrors } = await session.send("Page.getInstallabilityErrors");
    // A context of its own is as a private window to the browser: nothing is installed from it.
    expect(installabilityErrors.map(({ errorId }) => errorId).filter((id) => id !== "in-incognito")).toEqual(
      [],
    );
  });

  it("asks the hub for pushes by the bell, and for none any more", async () => {
    const { hub } = await tests.open();
    const { page } = await openPhone(hub);
    await page.getByRole("button", { name: "Notify me of new approvals" }).click();
    await expect
      .poll(() => [...hub.devices.subscriptions().values()])
      .toEqual([
        { endpoint: "http://127.0.0.1:9/push/1", keys: { p256dh: "p256dh-of-the-browser", auth: "auth" } },
      ]);
    await page.reload();
    await page.getByRole("button", { name: "Notifications are on. Turn them off" }).click();
    await expect.poll(() => hub.devices.subscriptions().size).toBe(0);
  });

  it("shows a push by agent, tool and risk, opens its question by a click, and closes it when it was answered elsewhere", async () => {
    const { hub } = await tests.open();
    const { context, page } = await openPhone(hub);
    await hub.ask({ subject: { tool: "bash", input: { command: "npm publish" } }, risk: { level: "high" } });
    const [record] = (await hub.approvals.page()).records;
    const item = { id: record?.id ?? "", agent: "codex", tool: "bash", risk: "high" };
    await deliver(context, page, hub.publicUrl, JSON.stringify({ total: 1, items: [item] }));
    await expect.poll(() => notices(page)).toEqual([{ title: "codex asks: bash", body: "high risk" }]);
    const [worker] = context.serviceWorkers();
    await worker?.evaluate(async () => {
      const scope = self as unknown as { registration: ServiceWorkerRegistration };
      const [notification] = await scope.registration.getNotifications();
      const click = new Event("notificationclick") as Event & { notification: unknown; waitUntil: unknown };
      // Only a click of a user may bring a window to the front: here the rest of it is seen.
      Object.assign(click, { notification, waitUntil: (work: Promise<unknown>) => work.catch(() => {}) });
      self.dispatchEvent(click);
    });
    await page.getByRole("region", { name: "bash: run this command" }).waitFor();
    expect(page.url()).toBe(`${hub.publicUrl}/#/inbox/${item.id}`);
    await expect.poll(() => notices(page)).toEqual([]);
    const several = [item, { ...item, id: "apr_2", agent: "claude-code", risk: "unknown" }];
    await deliver(context, page, hub.publicUrl, JSON.stringify({ total: 7, items: several }));
    await expect
      .poll(() => notices(page))
      .toEqual([
        {
          title: "7 questions wait for you",
          body: "codex: bash, high risk\nclaude-code: bash, risk unknown",
        },
      ]);
    await hub.approvals.apply(item.id, {
      ...{ type: "answer", decision: "approve", by: "ada (terminal)" },
      digest: record?.digest ?? "",
    });
    await expect.poll(() => notices(page)).toEqual([]);
  });

  it("opens without the hub, and its worker has kept the page's files and nothing else", async () => {
    const { hub } = await tests.open();
    const { context, page } = await openPhone(hub);
    await hub.ask({ subject: { tool: "bash", input: { command: "echo hunter2" } } });
    // The worker takes the page from its second load on.
    await page.reload();
    await page.getByRole("link", { name: /hunter2/ }).click();
    const kept = () =>
      page.evaluate(async () => {
        const cache = await caches.open("shell");
        const texts = (await cache.matchAll()).map((answer) => answer.clone().text());
        const paths = (await cache.keys()).map(({ url }) => new URL(url).pathname);
        return { paths, text: (await Promise.all(texts)).join("") };
      });
    await expect.poll(async () => (await kept()).paths.length).toBeGreaterThan(2);
    const { paths, text } = await kept();
    for (const path of paths) expect(path).toMatch(/^\/$|^\/assets\/[\w-]+\.(?:js|css|svg)$/);
    expect(text).not.toContain("hunter2");
    await context.setOffline(true);
    await page.reload();
    await page.getByText(/Connecting|Reconnecting/).waitFor();
    expectQuiet({ complaints: [], hub });
  });
});
