import { noticeOf } from "./devices/push-notice.ts";

/** The part of a service worker's scope that is used here: the page's own types have none of it. */
interface WorkerScope {
  readonly registration: Pick<ServiceWorkerRegistration, "showNotification">;
  readonly clients: {
    matchAll(options: object): Promise<readonly Pick<Window, "focus" | "postMessage">[]>;
    openWindow(url: string): Promise<unknown>;
    claim(): Promise<void>;
  };
  skipWaiting(): Promise<void>;
  addEventListener<Name extends keyof WorkerEvents>(
    name: Name,
    listener: (event: WorkerEvents[Name]) => void,
  ): void;
}
interface Waits {
  waitUntil(work: Promise<unknown>): void;
}
interface FetchEvent extends Waits {
  readonly request: Request;
  respondWith(answer: Promise<Response>): void;
}
interface WorkerEvents {
  readonly install: Waits;
  readonly activate: Waits;
  readonly fetch: FetchEvent;
  readonly push: Waits & { readonly data: { text(): string } | null };
  readonly notificationclick: Waits & { readonly notification: Notification };
}

const worker = self as unknown as WorkerScope;
const cacheName = "shell";
/** Files of the page that are kept: those of some versions. */
const maxKept = 40;

worker.addEventListener("install", (event) => event.waitUntil(worker.skipWaiting()));
worker.addEventListener("activate", (event) => event.waitUntil(worker.clients.claim()));

const keep = async (request: Request, answer: Response): Promise<void> => {
  const cache = await caches.open(cacheName);
  await cache.put(request, answer);
  const kept = await cache.keys();
  await Promise.all(kept.slice(0, Math.max(0, kept.length - maxKept)).map((old) => cache.delete(old)));
};

/** Assets from the cache, since the name of one holds a hash of its content; the page from there only without a network. */
const answer = async (event: FetchEvent, isAsset: boolean): Promise<Response> => {
  const kept = await caches.match(event.request, { ignoreSearch: !isAsset });
  if (kept !== undefined && isAsset) return kept;
  try {
    const found = await fetch(event.request);
    if (found.ok) event.waitUntil(keep(event.request, found.clone()));
    return found;
  } catch (error) {
    if (kept === undefined) throw error;
    return kept;
  }
};

// Only the page itself is kept, so that it opens without the hub: nothing that the hub says, and no answer.
worker.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== location.origin) return;
  const isAsset = pathname.startsWith("/assets/");
  if (isAsset || (request.mode === "navigate" && pathname === "/")) event.respondWith(answer(event, isAsset));
});

worker.addEventListener("push", (event) => {
  const { title, ...options } = noticeOf(event.data?.text() ?? "");
  event.waitUntil(worker.registration.showNotification(title, options));
});

worker.addEventListener("notificationclick", (event) => {
  const { notification } = event;
  notification.close();
  const { hash } = notification.data as { readonly hash: string };
  event.waitUntil(
    worker.clients.matchAll({ type: "window", includeUncontrolled: true }).then(async ([open]) => {
      if (open === undefined) return worker.clients.openWindow(`./${hash}`);
      open.postMessage({ hash });
      return open.focus();
    }),
  );
});
