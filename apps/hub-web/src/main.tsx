import "./no-eval.ts";
import { render } from "preact";
import { App, SignedOut } from "./app.tsx";
import { Notifier } from "./notify.ts";
import { openAccess } from "./state/access.ts";
import { Agents } from "./state/agents.ts";
import { openHubLink } from "./state/hub-link.ts";
import { Inbox } from "./state/inbox.ts";
import { Router } from "./state/route.ts";
import { Timeline } from "./state/timeline.ts";
import "./theme.ts";

const start = async (root: HTMLElement): Promise<void> => {
  const access = await openAccess();
  if ("refused" in access) return render(<SignedOut isRefused={access.refused === "used_link"} />, root);
  const link = openHubLink(access.token);
  const router = new Router();
  const inbox = new Inbox(link);
  const timeline = new Timeline(link, router.route.value.filter);
  router.route.subscribe(({ page, filter }) => {
    if (page === "inbox" || page === "timeline") timeline.show(filter);
  });
  const notifier = new Notifier((id) => router.go({ page: "inbox", id }));
  inbox.onAsked((record) => notifier.asked(record));
  const agents = new Agents(link);
  render(
    <App link={link} router={router} inbox={inbox} timeline={timeline} agents={agents} notifier={notifier} />,
    root,
  );
};

const root = document.getElementById("app");
if (root !== null) void start(root);
