import type { NotifyState } from "./notify.ts";
import { IconButton } from "./parts/controls.tsx";
import { Icon, type IconName } from "./parts/icons.tsx";
import { useApp, useHello, useRoute } from "./state/app.ts";
import type { LinkState } from "./state/hub-link.ts";
import { type PageName, routeHash } from "./state/route.ts";
import { useStore } from "./state/store.ts";
import { nextTheme, theme } from "./theme.ts";

interface Tab {
  readonly page: PageName;
  readonly text: string;
  readonly icon: IconName;
}

/** Inbox and timeline are one page where there is room for both. */
const wideTabs: readonly Tab[] = [
  { page: "inbox", text: "Inbox and timeline", icon: "inbox" },
  { page: "agents", text: "Agents", icon: "agents" },
  { page: "policy", text: "Policy", icon: "policy" },
  { page: "grants", text: "Grants", icon: "grants" },
  { page: "devices", text: "Devices", icon: "phone" },
];

const narrowTabs: readonly Tab[] = [
  { page: "inbox", text: "Inbox", icon: "inbox" },
  { page: "timeline", text: "Timeline", icon: "timeline" },
  ...wideTabs.slice(1),
];

interface TabsProps {
  readonly waiting: number;
  readonly isNarrow: boolean;
}

/** The pages, with how many approvals wait. */
export function Tabs({ waiting, isNarrow }: TabsProps) {
  const route = useRoute();
  const shown = !isNarrow && route.page === "timeline" ? "inbox" : route.page;
  return (
    <nav class={isNarrow ? "tabbar" : "nav"} aria-label={isNarrow ? "Pages, at the bottom" : "Pages"}>
      {(isNarrow ? narrowTabs : wideTabs).map(({ page, text, icon }) => (
        <a
          key={page}
          href={routeHash({ page, filter: route.filter })}
          aria-current={page === shown ? "page" : undefined}
        >
          {isNarrow && <Icon name={icon} size={20} />}
          {text}
          {page === "inbox" && waiting > 0 && (
            <span class="count">
              {waiting}
              <span class="hidden"> waiting</span>
            </span>
          )}
        </a>
      ))}
    </nav>
  );
}

const linkStates: Readonly<Record<LinkState, readonly [text: string, tone: string]>> = {
  connecting: ["Connecting …", "warn"],
  ready: ["Connected", "good"],
  away: ["Reconnecting …", "warn"],
  denied: ["Signed out", "bad"],
  outdated: ["Outdated", "bad"],
};

const notifyTexts: Readonly<Record<NotifyState, string>> = {
  on: "Notifications are on. Turn them off",
  off: "Notify me of new approvals",
  failed: "Notifications could not be turned on. Try again",
  denied: "The browser blocks notifications of this page",
  unsupported: "This browser has no notifications here. On an iPhone, add the page to the home screen first",
};

interface HeaderProps {
  readonly waiting: number;
  readonly onHelp: () => void;
}

export function Header({ waiting, onHelp }: HeaderProps) {
  const { link, notifier } = useApp();
  const linkState = useStore(link.state);
  const notify = useStore(notifier.state);
  const problem = useStore(notifier.problem);
  const shownTheme = useStore(theme);
  const [text, tone] = linkStates[linkState];
  return (
    <header class="top">
      <a class="brand" href="#/inbox" title={useHello()?.hub.name}>
        <svg viewBox="0 0 32 32" width="24" height="24" aria-hidden="true" focusable="false">
          <rect width="32" height="32" rx="8" fill="currentColor" />
          <path class="brand-mark" d="M9 8v16M23 8v16M9 16h14" stroke-width="3" stroke-linecap="round" />
        </svg>
        Hub
      </a>
      <Tabs waiting={waiting} isNarrow={false} />
      <div class="tools">
        <span class="link-state" role="status">
          <i class={tone} aria-hidden="true" />
          {text}
        </span>
        <IconButton
          icon={notify === "on" ? "bell" : "bellOff"}
          label={problem === undefined ? notifyTexts[notify] : `${notifyTexts[notify]}: ${problem}`}
          aria-pressed={notify === "on"}
          disabled={notify === "unsupported" || notify === "denied"}
          onClick={() => void notifier.toggle()}
        />
        <IconButton icon="theme" label={`Theme: ${shownTheme}`} onClick={nextTheme} />
        <IconButton icon="help" label="Keys" title="Keys (?)" look="only-wide" onClick={onHelp} />
      </div>
    </header>
  );
}
