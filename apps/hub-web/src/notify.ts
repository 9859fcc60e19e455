import { type ApprovalRecord, presentApproval } from "@harnesskit/approvals";
import { Store } from "./state/store.ts";

export type NotifyState = "off" | "on" | "denied" | "unsupported";

const storageKey = "harness-hub-notify";

const initialState = (): NotifyState => {
  if (!("Notification" in window)) return "unsupported";
  if (Notification.permission === "denied") return "denied";
  return Notification.permission === "granted" && localStorage.getItem(storageKey) === "on" ? "on" : "off";
};

/** Browser notifications of new approvals, while the page is not looked at. */
export class Notifier {
  readonly state = new Store<NotifyState>(initialState());
  readonly #open: (id: string) => void;

  constructor(open: (id: string) => void) {
    this.#open = open;
  }

  /** On, after the browser's own question, or off again. */
  async toggle(): Promise<void> {
    if (this.state.value === "on") {
      localStorage.setItem(storageKey, "off");
      return this.state.set("off");
    }
    if (this.state.value === "unsupported") return;
    const permission = await Notification.requestPermission();
    localStorage.setItem(storageKey, permission === "granted" ? "on" : "off");
    this.state.set(permission === "granted" ? "on" : permission === "denied" ? "denied" : "off");
  }

  /** The notice has what an agent wants to do in words, and nothing of its input. */
  asked(record: ApprovalRecord): void {
    if (this.state.value !== "on" || document.visibilityState === "visible") return;
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
