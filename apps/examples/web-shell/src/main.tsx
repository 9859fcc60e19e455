import "./no-eval.ts";
import { createHttpExchange } from "@harnesskit/transport-http";
import { render } from "preact";
import {
  type Access,
  type AccessPlaces,
  keepAccess,
  newSessionId,
  openAccess,
  redeemTicket,
  ticketIn,
} from "./access.ts";
import { App, NoEngine } from "./app.tsx";
import { ChatSession } from "./chat-session.ts";
import { ConversationStore } from "./conversation-store.ts";

const places: AccessPlaces = { tab: sessionStorage, browser: localStorage };
const timeoutMs = 120_000;

const startShell = (access: Access, root: Element): void => {
  const { engine, token, sessionId } = access;
  const exchange = createHttpExchange({
    url: engine,
    timeoutMs,
    credentials: token === undefined ? undefined : { bearer: token },
  });
  const store = new ConversationStore({ shelf: localStorage, engine, sessionId });
  const chat = new ChatSession({ engine: exchange, sessionId, store });
  addEventListener("storage", (event) => {
    if (event.key === store.key) chat.takeUp();
  });
  const startAgain = () => {
    store.remove();
    keepAccess({ ...access, sessionId: newSessionId() }, places);
    location.reload();
  };
  render(<App chat={chat} engineHost={new URL(engine).host} onNew={startAgain} />, root);
};

const open = async (): Promise<void> => {
  const root = document.querySelector("#app");
  if (root === null) return;
  const page = new URL(location.pathname, location.origin).href;
  const ticket = ticketIn(location.hash);
  const fragment = ticket === undefined ? location.hash : await redeemTicket(ticket);
  const access = openAccess({ fragment, page }, places);
  // The token leaves the address bar, and with it the history, before anything else happens.
  if (location.hash !== "" || location.search !== "") history.replaceState(null, "", location.pathname);
  // A new link in the same tab.
  addEventListener("hashchange", () => location.reload());
  if (access === undefined || access === "invalid") {
    const missing = ticket === undefined ? "no_link" : "used_link";
    render(<NoEngine problem={access === "invalid" ? "invalid_link" : missing} />, root);
    return;
  }
  startShell(access, root);
};

void open();
