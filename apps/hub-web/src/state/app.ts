import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Notifier } from "../notify.ts";
import type { Hello, HubLink } from "./hub-link.ts";
import type { Inbox } from "./inbox.ts";
import type { Route, Router } from "./route.ts";
import { useStore } from "./store.ts";
import type { Timeline } from "./timeline.ts";

/** What the views of a page that is signed in share. */
export interface AppState {
  readonly link: HubLink;
  readonly router: Router;
  readonly inbox: Inbox;
  readonly timeline: Timeline;
  readonly notifier: Notifier;
}

export const AppContext = createContext<AppState | undefined>(undefined);

export const useApp = (): AppState => {
  const app = useContext(AppContext);
  if (app === undefined) throw new TypeError("the view is not within the page's state");
  return app;
};

export const useRoute = (): Route => useStore(useApp().router.route);

export const useHello = (): Hello | undefined => useStore(useApp().link.hello);

/** The device that this page is open on; undefined on the hub's own machine. */
export const useDevice = (): Hello["device"] => useHello()?.device;
