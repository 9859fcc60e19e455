import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { buildSourceBundle } from "../../../scripts/lib/source-bundle.ts";
import { type AhpClientOptions, createAhpClient } from "../src/index.ts";
import { base, decideFull, notifyFull, watcher } from "./support/client.ts";
import { startEndpoint, transportNames } from "./support/endpoints.ts";
import { agreements, blockingTypes, fullEvent, notificationTypes, payloads } from "./support/samples.ts";

let bundle: Awaited<ReturnType<typeof buildSourceBundle>>;
beforeAll(async () => {
  bundle = await buildSourceBundle(new URL("./bundle-entry.ts", import.meta.url));
});
afterAll(() => bundle.remove());

type Name = (typeof transportNames)[number];

const connect = async (name: Name, options: Partial<AhpClientOptions> = {}) => {
  const { endpoint, close } = await startEndpoint[name](bundle.path);
  const client = createAhpClient({
    ...base,
    sessionId: "ses_1",
    agentId: "agent_1",
    ...options,
    ...endpoint,
  } as AhpClientOptions);
  onTestFinished(async () => {
    await client.close();
    await close();
  });
  await client.connect();
  return client;
};

/** Everything that one client can do, told to one harness; what came of it, and what the harness saw. */
const tell = async (name: Name) => {
  const { errors, onError } = watcher();
  const client = await connect(name, { onError });
  const results: unknown[] = [client.harness];
  const note = (verdict: any) => {
    const { origin, code, decision } = verdict;
    results.push(code === undefined ? { origin, decision } : { origin, code, decision: decision.decision });
  };
  for (const type of blockingTypes) note(await client.decide(type, payloads[type] as never));
  for (const type of blockingTypes) note(await decideFull(client, fullEvent(type)));
  for (const type of notificationTypes) results.push(client.notify(type, payloads[type] as never));
  for (const type of notificationTypes) results.push(notifyFull(client, fullEvent(type)));
  expect(await client.flush()).toBe(true);
  note(await client.decide("pre_action", { tool_name: "rm", text: "Grüße 👋\u2028" }));
  note(await client.decide("pre_action", { fail: true }));
  note(await client.decide("pre_action", {}, { depth: 5 }));
  const batch = await client.batch([
    { event_type: "pre_action", payload: { tool_name: "rm" } },
    { event_type: "pre_prompt", payload: "p" },
    { event_type: "post_action", payload: 1 },
    { event_type: "pre_action", payload: { fail: true } },
  ]);
  for (const verdict of batch) note(verdict);
  results.push(await client.query("t", "why?"));
  results.push(await client.connect());
  const { answer: seen } = (await client.query("seen", "what?")) as { answer: any };
  return { results, seen, errors };
};

describe("one client and one set of events", () => {
  it("come to equal decisions over all four transports, and the harness sees the same", async () => {
    const first = await tell("stdio");
    for (const type of blockingTypes) {
      expect(first.results).toContainEqual({ origin: "harness", decision: agreements[type] });
    }
    expect(first.seen).toHaveLength(46);
    for (const type of [...blockingTypes, ...notificationTypes]) {
      const { timestamp: _, ...full } = fullEvent(type);
      // A harness fills in what a payload leaves out.
      const payload = expect.objectContaining(payloads[type]);
      const made = { session_id: "ses_1", agent_id: "agent_1", depth: 0, payload };
      expect(first.seen).toContainEqual({ ...full, payload });
      expect(first.seen).toContainEqual({ event_type: type, ...made });
    }
    expect(first.errors).toEqual([]);
    for (const name of transportNames.slice(1)) {
      const other = await tell(name);
      expect(other.results, name).toEqual(first.results);
      // Over HTTP a notification may be handled while the next message is under way.
      const sorted = (events: unknown[]) => events.map((event) => JSON.stringify(event)).sort();
      expect(sorted(other.seen), name).toEqual(sorted(first.seen));
      expect(other.errors, name).toEqual([]);
    }
  });
});
