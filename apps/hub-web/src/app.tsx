import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { AgentPage } from "./agents/agent-page.tsx";
import { AgentsPage } from "./agents/agents-page.tsx";
import { DevicesPage, ThisDevicePage } from "./devices/devices-page.tsx";
import { PairForm } from "./devices/pair-form.tsx";
import { Header, Tabs } from "./header.tsx";
import { HelpDialog } from "./help-dialog.tsx";
import { InboxColumn } from "./inbox/inbox-column.tsx";
import { OpenApproval } from "./inbox/open-approval.tsx";
import { pageKey, useKey } from "./keys.ts";
import { GrantsPage } from "./pages/grants-page.tsx";
import { CommandLine } from "./parts/empty.tsx";
import { Line } from "./parts/safe-text.tsx";
import { PolicyPage } from "./policy/policy-page.tsx";
import { useApp, useHello, useRoute } from "./state/app.ts";
import type { LinkState } from "./state/hub-link.ts";
import { waitingIn } from "./state/inbox.ts";
import { pages } from "./state/route.ts";
import { useStore } from "./state/store.ts";
import { OpenRow } from "./timeline/row-detail.tsx";
import { RunView } from "./timeline/run-view.tsx";
import { TimelineColumn } from "./timeline/timeline-column.tsx";

/** Inbox and timeline, and beside them what is open. */
function Activity() {
  const { page, id, run } = useRoute();
  const isOpen = id !== undefined || run !== undefined;
  return (
    <main class={`activity ${isOpen ? `with-detail of-${page}` : ""}`}>
      <InboxColumn className={page === "inbox" ? "" : "away-narrow"} />
      <TimelineColumn className={page === "timeline" ? "" : "away-narrow"} />
      {isOpen && (
        <div class="detail">
          {run !== undefined && <RunView key={JSON.stringify(run)} run={run} />}
          {id !== undefined && (page === "inbox" ? <OpenApproval id={id} /> : <OpenRow id={id} />)}
        </div>
      )}
    </main>
  );
}

/** What is wrong with the hub, or with the way to it, and how to mend it. */
function Banner() {
  const state = useStore(useApp().link.state);
  const { commands, formerPolicy } = useHello()?.hub ?? {};
  const start = commands?.start ?? "hub";
  const banners: Readonly<Partial<Record<LinkState, ComponentChildren>>> = {
    ready: formerPolicy && (
      <>
        <span>
          This hub was started without the policy that it had before, <Line text={formerPolicy.file} />. The
          shipped policy decides. To use yours again, end the hub and run:
        </span>
        <CommandLine args={formerPolicy.start} />
      </>
    ),
    away: (
      <>
        <span>
          The hub cannot be reached. What is shown may be old; an answer that you give is sent when it is
          back. If it does not run, start it:
        </span>
        <CommandLine args={start} />
      </>
    ),
    denied: (
      <>
        <span>This page is no longer signed in. To open it again, run this in a terminal:</span>
        <CommandLine args={`${start} --open`} />
      </>
    ),
    outdated: "The hub was replaced by another version. Load this page again.",
  };
  if (banners[state] === undefined) return <div />;
  return (
    <div class={`banner ${state === "away" ? "warn" : "bad"}`} role="alert">
      {banners[state]}
    </div>
  );
}

/** The pages beside the activity. */
function OtherPage() {
  const { page, id, filter } = useRoute();
  const hello = useHello();
  if (page === "agents")
    return id === undefined ? <AgentsPage /> : <AgentPage agent={id} session={filter.session} />;
  if (page === "policy") return <PolicyPage id={id} />;
  if (page === "grants") return <GrantsPage />;
  if (hello === undefined) return null;
  return hello.device === undefined ? <DevicesPage /> : <ThisDevicePage device={hello.device} />;
}

export function App() {
  const { router, inbox } = useApp();
  const { page } = useRoute();
  const waiting = waitingIn(useStore(inbox.records));
  const [isHelp, setHelp] = useState(false);
  useKey("?", () => setHelp(true));
  for (const each of pages) useKey(pageKey(each), () => router.go({ page: each, id: undefined }));
  useEffect(() => {
    document.title = waiting === 0 ? "Hub" : `(${waiting}) Hub`;
  }, [waiting]);
  return (
    <div class="frame">
      <Header waiting={waiting} onHelp={() => setHelp(true)} />
      <Banner />
      {page === "inbox" || page === "timeline" ? <Activity /> : <OtherPage />}
      <Tabs waiting={waiting} isNarrow />
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
