import type { HubLink } from "../state/hub-link.ts";
import type { Inbox } from "../state/inbox.ts";

interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL(url: string): string },
  ): { createScriptURL(url: string): string };
}

/** The page's policy wants scripts by trusted names: there is one. */
const workerUrl = (): string => {
  const { trustedTypes } = globalThis as { readonly trustedTypes?: TrustedTypes };
  const rules = { createScriptURL: () => "./sw.js" };
  return (trustedTypes?.createPolicy("service-worker", rules) ?? rules).createScriptURL("");
};

/** The worker of this device's page; undefined where the browser has none, as on a page without TLS. */
export const startWorker = async (): Promise<ServiceWorkerRegistration | undefined> => {
  if (!("serviceWorker" in navigator)) return undefined;
  await navigator.serviceWorker.register(workerUrl());
  return navigator.serviceWorker.ready;
};

/** Opens what a notification is about, when it is clicked while the page is open. */
export const followClicks = (): void => {
  navigator.serviceWorker?.addEventListener(
    "message",
    ({ data }: MessageEvent<{ readonly hash?: string }>) => {
      if (data.hash?.startsWith("#/inbox")) location.hash = data.hash;
    },
  );
};

/** Closes notifications of questions that wait no more: answered elsewhere, withdrawn or expired. */
export const closeOldNotices = (inbox: Inbox, registration: ServiceWorkerRegistration): void => {
  const close = async () => {
    if (!inbox.isLoaded.value) return;
    const waits = (id: string) => inbox.records.value.get(id)?.status === "pending";
    for (const notice of await registration.getNotifications()) {
      const { ids = [] } = (notice.data ?? {}) as { readonly ids?: readonly string[] };
      if (!ids.some(waits)) notice.close();
    }
  };
  inbox.records.subscribe(() => void close());
  inbox.isLoaded.subscribe(() => void close());
};

/** Asks the browser's push service for an endpoint, and names it to the hub. Rejects where either refuses. */
export const subscribe = async (link: HubLink, registration: ServiceWorkerRegistration): Promise<void> => {
  const key = link.hello.value?.pushKey;
  if (key === undefined) return;
  const options = { userVisibleOnly: true, applicationServerKey: key };
  // One that was made for another hub's key cannot be used.
  const found = await registration.pushManager.subscribe(options).catch(async () => {
    await (await registration.pushManager.getSubscription())?.unsubscribe();
    return registration.pushManager.subscribe(options);
  });
  const { endpoint = "", keys = {} } = found.toJSON();
  const { p256dh = "", auth = "" } = keys;
  await link.client.call("devices.subscribe", { subscription: { endpoint, keys: { p256dh, auth } } });
};

export const unsubscribe = async (link: HubLink, registration: ServiceWorkerRegistration): Promise<void> => {
  await link.client.call("devices.subscribe", {});
  await (await registration.pushManager.getSubscription())?.unsubscribe();
};
