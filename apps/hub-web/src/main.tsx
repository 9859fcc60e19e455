import "./no-eval.ts";
import { render } from "preact";
import { App, SignedOut } from "./app.tsx";
import { PairPage } from "./devices/pair-form.tsx";
import { closeOldNotices, followClicks, startWorker, subscribe, unsubscribe } from "./devices/push.ts";
import { Notifier } from "./notify.ts";
import { isDeviceToken, openAccess } from "./state/access.ts";
import { AppContext } from "./state/app.ts";
import { failureText } from "./state/failures.ts";
import { type HubLink, openHubLink } from "./state/hub-link.ts";
import { Inbox } from "./state/inbox.ts";
import { Router } from "./state/route.ts";
import { Timeline } from "./state/timeline.ts";
import "./theme.ts";

let hasPushes = false;

/** On a paired device the page has a worker, which takes its pushes. */
const startPushes = (link: HubLink, inbox: Inbox, notifier: Notifier): void => {
  if (hasPushes) return;
  hasPushes = true;
  followClicks();
  startWorker()
    .then((registration) => {
      if (registration === undefined) return;
      closeOldNotices(inbox, registration);
      notifier.usePushes({
        on: () => subscribe(link, registration),
        off: () => unsubscribe(link, registration),
      });
    })
    .catch((error: unknown) => notifier.problem.set(failureText(error)));
};

const start = async (root: HTMLElement): Promise<void> => {
  const access = await openAccess();
  if ("pairingCode" in access) return render(<PairPage code={access.pairingCode} />, root);
  if ("refused" in access) return render(<SignedOut why={access.refused} />, root);
  const link = openHubLink(access.token);
  // Nothing of what it had shown stays on a device that was revoked.
  link.state.subscribe((state) => {
    if (state === "denied" && isDeviceToken(access.token)) render(<SignedOut why="revoked" />, root);
  });
  const router = new Router();
  const notifier = new Notifier((id) => router.go({ page: "inbox", id }));
  const inbox = new Inbox(link, (record) => notifier.asked(record));
  const timeline = new Timeline(link, router.route.value.filter);
  router.route.subscribe(({ page, filter }) => {
    if (page === "inbox" || page === "timeline") timeline.show(filter);
  });
  link.hello.subscribe((hello) => hello?.device !== undefined && startPushes(link, inbox, notifier));
  render(
    <AppContext.Provider value={{ link, router, inbox, timeline, notifier }}>
      <App />
    </AppContext.Provider>,
    root,
  );
};

const root = document.getElementById("app");
if (root !== null) void start(root);
