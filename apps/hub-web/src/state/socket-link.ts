// Until the hub's own client is here.
import { hubPaths } from "@harnesskit/protocol/hub";
import { ProtocolError } from "@harnesskit/wire";
import { forgetSession, socketTicket } from "./access.ts";
import type { Hello, HubLink, LinkState } from "./hub-link.ts";
import { Store } from "./store.ts";

export const createSocketLink = (token: string): HubLink => {
  const state = new Store<LinkState>("connecting");
  const hello = new Store<Hello | undefined>(undefined);
  const listeners = new Map<string, Set<(params: any) => void>>();
  const ready = new Set<() => void>();
  const pending = new Map<number, { resolve: (v: any) => void; reject: (e: unknown) => void }>();
  const waiting: (() => void)[] = [];
  let socket: WebSocket | undefined;
  let nextId = 1;
  const send = (method: string, params: unknown) =>
    new Promise<any>((resolve, reject) => {
      const id = nextId++;
      pending.set(id, { resolve, reject });
      socket?.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    });
  const open = async () => {
    try {
      const ticket = await socketTicket(token);
      if (ticket === undefined) {
        forgetSession();
        state.set("denied");
        return;
      }
      const url = new URL(hubPaths.api, location.href);
      url.protocol = "ws:";
      url.hash = "";
      url.search = `token=${encodeURIComponent(ticket)}`;
      socket = new WebSocket(url);
    } catch {
      return again();
    }
    socket.onclose = () => {
      for (const { reject } of pending.values()) reject(new TypeError("connection lost"));
      pending.clear();
      again();
    };
    socket.onmessage = ({ data }) => {
      const m = JSON.parse(String(data));
      if (m.method) for (const l of listeners.get(m.method) ?? []) l(m.params);
      else {
        const p = pending.get(m.id);
        pending.delete(m.id);
        if (m.error) p?.reject(new ProtocolError(m.error.code, m.error.message, { data: m.error.data }));
        else p?.resolve(m.result);
      }
    };
    socket.onopen = async () => {
      hello.set(await send("hub.hello", { client: { name: "page" } }));
      state.set("ready");
      for (const go of waiting.splice(0)) go();
      for (const listener of ready) listener();
    };
  };
  const again = () => {
    if (state.value === "denied") return;
    state.set(state.value === "connecting" ? "connecting" : "away");
    setTimeout(() => void open(), 500);
  };
  void open();
  return {
    state,
    hello,
    call: async (method, params) => {
      if (state.value !== "ready") await new Promise<void>((resolve) => waiting.push(resolve));
      return send(method, params);
    },
    on: (name, listener) => {
      const set = listeners.get(name) ?? new Set();
      listeners.set(name, set.add(listener));
      return () => set.delete(listener);
    },
    onReady: (listener) => {
      ready.add(listener);
      if (state.value === "ready") listener();
      return () => ready.delete(listener);
    },
  };
};
