import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { event, handshake, post, serveAhp } from "./support/ahp.ts";

it("harness ahp serve knows a client over HTTP by its token, whatever session its events have", async () => {
  const { endpoints, tokenFile = "" } = await serveAhp(["--http", "0"]);
  const [http = ""] = endpoints;
  const token = (await readFile(tokenFile, "utf8")).trim();
  const ask = async (message: { params: object }, session_id: string) => {
    const params = { ...message.params, session_id };
    return (await post(http, { ...message, params }, token)).json();
  };
  const gate = event("pre_action", {}, "1");
  expect(await ask(gate, "events")).toMatchObject({ error: { data: { reason: "handshake_required" } } });
  expect(await ask(handshake(), "private")).toMatchObject({ result: { protocol_version: "2.4" } });
  expect(await ask(gate, "events")).toMatchObject({ result: { decision: "escalate" } });
  const events = ["one", "two"].map((session_id) => ({ ...gate.params, session_id }));
  const batch = { jsonrpc: "2.0", id: "b", method: "ahp/batch", params: { events } };
  expect(await (await post(http, batch, token)).json()).toMatchObject({
    result: { decisions: [{ decision: "escalate" }, { decision: "escalate" }] },
  });
  const told = event("post_action");
  const params = { ...told.params, session_id: "events", context: null, metadata: null };
  expect((await post(http, { ...told, params }, token)).status).toBe(204);
});
