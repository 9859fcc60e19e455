/** A push, as the hub sends it: no content of what is asked. */
interface Push {
  readonly total: number;
  readonly items: readonly {
    readonly id: string;
    readonly agent: string;
    readonly tool: string;
    readonly risk: string;
  }[];
}

/** A notification that opens what it is about. `data.ids` are the questions that it names. */
export interface PushNotice extends NotificationOptions {
  readonly title: string;
  readonly tag: string;
  readonly data: { readonly hash: string; readonly ids: readonly string[] };
}

const riskText = (risk: string): string => (risk === "unknown" ? "risk unknown" : `${risk} risk`);

const read = (text: string): Push => {
  try {
    return JSON.parse(text) as Push;
  } catch {
    // A push must show something.
    return { total: 1, items: [] };
  }
};

/** What a push shows: the agent, the tool and the risk. */
export const noticeOf = (text: string): PushNotice => {
  const { total, items } = read(text);
  const [first] = items;
  const common = { icon: "./icon-192.png", badge: "./icon-192.png", requireInteraction: true };
  const ids = items.map(({ id }) => id);
  if (first !== undefined && total === 1) {
    const hash = `#/inbox/${encodeURIComponent(first.id)}`;
    const title = `${first.agent} asks: ${first.tool}`;
    return { ...common, title, body: riskText(first.risk), tag: first.id, data: { hash, ids } };
  }
  const body = items.map(({ agent, tool, risk }) => `${agent}: ${tool}, ${riskText(risk)}`).join("\n");
  const title = total === 1 ? "A question waits for you" : `${total} questions wait for you`;
  return { ...common, title, body, tag: ids.join(" "), data: { hash: "#/inbox", ids } };
};
