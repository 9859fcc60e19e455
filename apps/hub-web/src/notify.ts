import { type ApprovalRecord, presentApproval } from "@harnesskit/approvals";
import { failureText } from "./state/failures.ts";
import { Store } from "./state/store.ts";

export type NotifyState = "off" | "on" | "denied" | "unsupported" | "failed";

/** Pushes, which come while the page is closed too. */
export interface Pushes {
  on(): Promise<void>;
  off(): Promise<void>;
}

const storageKey = "harness-hub-notify";

const initialState = (): NotifyState => {
  if (!("Notification" in window)) return "unsupported";
  if (Notification.permission === "denied") return "denied";
  return Notification.permission === "granted" && localStorage.getItem(storageKey) === "on" ? "on" : "off";
};

/** Notifications of new approvals: the page's own while it is not looked at, or pushes where it is on a paired device. */
export class Notifier {
  readonly state = new Store<NotifyState>(initialState());
  /** Why pushes could not be had, in words. */
  readonly problem = new Store<string | undefined>(undefined);
  readonly #open: (id: string) => void;
  #pushes: Pushes | undefined;

  constructor(open: (id: string) => void) {
    this.#open = open;
  }

  /** Pushes come in the place of the page's own notices from now on. What was asked for is asked for again: a browser may have lost it. */
  usePushes(pushes: Pushes): void {
    this.#pushes = pushes;
    if (this.state.value === "on") void this.#push(() => pushes.on());
  }

  /** On, after the browser's own question, or off again. */
  async toggle(): Promise<void> {
    if (this.state.value === "on") {
      localStorage.setItem(storageKey, "off");
      this.state.set("off");
      return this.#push(() => this.#pushes?.off());
    }
    if (this.state.value === "unsupported") return;
    const permission = await Notification.requestPermission();
    localStorage.setItem(storageKey, permission === "granted" ? "on" : "off");
    this.state.set(permission === "granted" ? "on" : permission === "denied" ? "denied" : "off");
    if (permission === "granted") await this.#push(() => this.#pushes?.on());
  }

  async #push(change: () => Promise<void> | undefined): Promise<void> {
    try {
      await change();
      this.problem.set(undefined);
    } catch (error) {
      this.problem.set(failureText(error));
      this.state.set("failed");
    }
  }

  /** The notice has what an agent wants to do in words, and nothing of its input. */
  asked(record: ApprovalRecord): void {
    if (this.#pushes !== undefined || this.state.value !== "on" || document.visibilityState === "visible")
      return;
    const { title, risk, origin } = presentApproval(record);
    const notice = new Notification(title, {
      body: `${origin[0] ?? ""} · ${risk.level === "unknown" ? "risk unknown" : `${risk.level} risk`}`,
      tag: record.id,
      icon: new URL("./icon.svg", import.meta.url).href,
    });
    notice.onclick = () => {
      window.focus();
      this.#open(record.id);
      notice.close();
    };
  }
}
