import type { Device } from "@harnesskit/protocol/hub";
import { useEffect, useState } from "preact/hooks";
import { AgentPage } from "./agents/agent-page.tsx";
import { AgentsPage } from "./agents/agents-page.tsx";
import { DevicesPage, ThisDevicePage } from "./devices/devices-page.tsx";
import { PairForm } from "./devices/pair-form.tsx";
import { Header, Tabs } from "./header.tsx";
import { HelpDialog } from "./help-dialog.tsx";
import { InboxColumn } from "./inbox/inbox-column.tsx";
import { OpenApproval } from "./inbox/open-approval.tsx";
import { useKey } from "./keys.ts";
import type { Notifier } from "./notify.ts";
import { GrantsPage } from "./pages/grants-page.tsx";
import { CommandLine } from "./parts/empty.tsx";
import { PolicyPage } from "./policy/policy-page.tsx";
import type { Agents } from "./state/agents.ts";
import type { HubLink, LinkState } from "./state/hub-link.ts";
import { type Inbox, waitingIn } from "./state/inbox.ts";
import { type Router, runId } from "./state/route.ts";
import { useStore } from "./state/store.ts";
import type { Timeline } from "./state/timeline.ts";
import { OpenRow } from "./timeline/open-row.tsx";
import { RunView } from "./timeline/run-view.tsx";
import { TimelineColumn } from "./timeline/timeline-column.tsx";

interface AppProps {
  readonly link: HubLink;
  readonly router: Router;
  readonly inbox: Inbox;
  readonly timeline: Timeline;
  readonly agents: Agents;
  readonly notifier: Notifier;
}

/** Inbox and timeline, and beside them what is open. */
function Activity({ link, router, inbox, timeline, agents }: AppProps) {
  const { page, id } = useStore(router.route);
  const hello = useStore(link.hello);
  return (
    <main class={`activity ${id === undefined ? "" : `with-detail of-${page}`}`}>
      <InboxColumn
        inbox={inbox}
        link={link}
        router={router}
        className={page === "inbox" ? "" : "away-narrow"}
      />
      <TimelineColumn
        timeline={timeline}
        agents={agents}
        router={router}
        link={link}
        run={hello?.hub.commands?.run}
        className={page === "timeline" ? "" : "away-narrow"}
      />
      {id !== undefined && (
        <div class="detail">
          {page === "inbox" ? (
            <OpenApproval id={id} link={link} router={router} inbox={inbox} />
          ) : (
            <OpenOfTimeline id={id} link={link} router={router} timeline={timeline} />
          )}
        </div>
      )}
    </main>
  );
}

/** A row, or a run as a conversation. */
function OpenOfTimeline(props: Parameters<typeof OpenRow>[0]) {
  const { filter } = useStore(props.router.route);
  if (props.id !== runId) return <OpenRow {...props} />;
  const { agent, session, turn } = filter;
  return <RunView key={JSON.stringify([agent, session, turn])} {...props} run={filter} />;
}

function OfDevices({ link, device }: { readonly link: HubLink; readonly device: Device | undefined }) {
  return device === undefined ? <DevicesPage link={link} /> : <ThisDevicePage link={link} device={device} />;
}

const bannerTexts: Readonly<Partial<Record<LinkState, string>>> = {
  away: "The hub cannot be reached. What is shown may be old; nothing is lost. Trying again …",
  denied: "This page is no longer signed in. To open it again, run this in a terminal:",
  outdated: "The hub was replaced by another version. Load this page again.",
};

/** After this time without the hub, the page says how to start it. */
const longAwayMs = 10_000;
const longAwayText =
  "The hub cannot be reached. To start it again, run this in a terminal; an answer that you have given is sent then:";

function Banner({ state, start = "hub" }: { readonly state: LinkState; readonly start: string | undefined }) {
  const isAway = state === "away" || state === "connecting";
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    setLong(false);
    if (!isAway) return undefined;
    const timer = setTimeout(() => setLong(true), longAwayMs);
    return () => clearTimeout(timer);
  }, [isAway]);
  const text = isLong ? longAwayText : bannerTexts[state];
  if (text === undefined) return <div />;
  return (
    <div class={`banner ${isAway ? "" : "bad"}`} role="alert">
      {text}
      {isLong && <CommandLine args={start} />}
      {state === "denied" && <CommandLine args={`${start} --open`} />}
    </div>
  );
}

export function App(props: AppProps) {
  const { link, router, inbox, notifier } = props;
  const route = useStore(router.route);
  const state = useStore(link.state);
  const hello = useStore(link.hello);
  const waiting = waitingIn(useStore(inbox.records));
  const [isHelp, setHelp] = useState(false);
  const go = (page: (typeof route)["page"]) => () => router.go({ page, id: undefined });
  useKey("?", () => setHelp(true));
  useKey("g i", go("inbox"));
  useKey("g t", go("timeline"));
  useKey("g a", go("agents"));
  useKey("g p", go("policy"));
  useKey("g g", go("grants"));
  useKey("g d", go("devices"));
  useEffect(() => {
    document.title = waiting === 0 ? "Hub" : `(${waiting}) Hub`;
  }, [waiting]);
  return (
    <div class="frame">
      <Header
        route={route}
        waiting={waiting}
        linkState={state}
        hubName={hello?.hub.name}
        notifier={notifier}
        onHelp={() => setHelp(true)}
      />
      <Banner state={state} start={hello?.hub.commands?.start} />
      {(route.page === "inbox" || route.page === "timeline") && <Activity {...props} />}
      {route.page === "agents" && route.id === undefined && (
        <AgentsPage link={link} agents={props.agents} run={hello?.hub.commands?.run} />
      )}
      {route.page === "agents" && route.id !== undefined && (
        <AgentPage link={link} agents={props.agents} agent={route.id} session={route.filter.session} />
      )}
      {route.page === "policy" && <PolicyPage link={link} id={route.id} />}
      {route.page === "grants" && <GrantsPage link={link} />}
      {route.page === "devices" && hello !== undefined && <OfDevices link={link} device={hello.device} />}
      <Tabs route={route} waiting={waiting} isNarrow />
      {isHelp && <HelpDialog onClose={() => setHelp(false)} />}
    </div>
  );
}

const signedOutTexts = {
  no_link: "This page needs a link from the hub",
  used_link: "This link was used before, or is too old",
  revoked: "This device was revoked, or signed out",
} as const;

/** What is shown where the page has no access: how to open it. */
export function SignedOut({ why }: { readonly why: keyof typeof signedOutTexts }) {
  return (
    <main class="signed-out">
      <h1>{signedOutTexts[why]}</h1>
      <p class="dim">
        The hub opens its page with a link that is valid once. To get a new one, run this in a terminal; a hub
        that runs already is used. A hub with a <code>--state</code> of its own needs that option here, too:
      </p>
      <CommandLine args="hub --open" />
      <h2>On another device</h2>
      <p class="dim">
        Pair it: on the hub's machine, run the command below, and type the code that it shows.
      </p>
      <CommandLine args="hub --pair" />
      <PairForm />
    </main>
  );
}
