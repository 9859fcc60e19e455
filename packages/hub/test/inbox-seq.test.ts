import { sampleQuestion } from "@harnesskit/approvals/testing";
import { expect, it } from "vitest";
import { openHub } from "./support/open-hub.ts";

it("a watch from the number of the newest change reads nothing older, and misses nothing that is asked meanwhile", async () => {
  await using hub = await openHub();
  const ask = async (callId: string) =>
    hub.approvals.ask(
      sampleQuestion({ origin: { callId }, subject: { input: { command: `npm test ${callId}` } } }),
    );
  for (const callId of ["old 1", "old 2"]) await ask(callId);
  const client = await hub.client();
  const { records } = await client.call("inbox.list", {});
  const afterSeq = await client.inboxSeq();
  expect(afterSeq).toBe(records.at(-1)?.seq);
  const { record } = await ask("between");
  const watch = client.watchInbox({ afterSeq });
  expect((await watch.next()).value).toMatchObject({ id: record.id });
  await watch.return?.();
});
