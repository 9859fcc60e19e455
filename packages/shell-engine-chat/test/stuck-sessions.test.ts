import { toApprovalPayload } from "@harnesskit/chat-harness";
import { createMemoryStore } from "@harnesskit/graph";
import { createDeferred } from "@harnesskit/wire";
import { describe, expect, it } from "vitest";
import { says } from "./support/scripted-model.ts";
import { askedIn, codeOf, look, sendTo, shown, start } from "./support/started.ts";

const askBob = says("Shall I?", sendTo("a", "bob"));
/** A `render` that shows so many cards for each result. */
const cards = (count: number) => () =>
  Array.from({ length: count }, () => ({
    action_type: "render_ui",
    payload: { component: "text", title: "card", data: { text: "" } },
  }));

describe("a session whose response would not fit", () => {
  it("is told of ends as there is room, the oldest first, and all of them in the end", async () => {
    const texts = ["one", "two", "three"];
    await using chat = await start(
      [...texts.map(() => askBob), ...texts.map((text) => says(`${text} has ended`)), says("Hello.")],
      { render: cards(90) },
    );
    for (const text of texts) await chat.say(text);
    const { suspended } = await chat.harness.pending();
    for (const { invocation_id: invocationId } of suspended)
      await chat.harness.signal({ invocationId, payload: toApprovalPayload({ decision: "approve" }) });
    const heard: string[] = [];
    const first = await chat.say("hello");
    expect(codeOf(first)).toBe("success");
    heard.push(...shown(first));
    expect(heard.at(-1)).toBe("Hello.");
    await expect
      .poll(async () => {
        const next = shown(await chat.post({}));
        heard.push(...next);
        return next;
      })
      .toEqual([]);
    expect(heard.filter((text) => text.endsWith("has ended"))).toEqual(
      texts.map((text) => `${text} has ended`),
    );
    expect(chat.errors).toEqual([]);
  });

  it("hears of a turn with many calls that were refused in its place", async () => {
    const parts = Array.from({ length: 9 }, (_, index) =>
      says("Hm.", look(`l${index}`), sendTo(`s${index}`, "bob")),
    );
    await using chat = await start([...parts, says("I cannot.")], { render: cards(30) });
    const capabilities = { "openharness.ui.rich_cards": true };
    const response = await chat.say("mail bob", { capabilities });
    expect(shown(response)).toHaveLength(100);
    expect(shown(response).at(-1)).toMatch(/^Hm\.\n.*I cannot\.$/s);
    expect([chat.errors, chat.done.length]).toEqual([[], 9]);
  });
});

it("a session goes on after a result that `render` cannot read, which is shown as by default", async () => {
  await using chat = await start([askBob, says("Sent."), says("Hello.")], {
    render: () => {
      throw new SyntaxError("not what I expected");
    },
  });
  const asked = askedIn(await chat.say("mail bob"));
  expect(codeOf(await chat.answer(asked, "approved"))).toBe("internal_error");
  expect(shown(await chat.say("hello"))).toEqual([expect.stringMatching(/^\[/), "Sent.", "Hello."]);
  expect(chat.errors).toContainEqual(expect.objectContaining({ message: "not what I expected" }));
});

it("an engine that closes in the middle of a turn gives up a message that has an id: the shell sends it again, and it stands there once", async () => {
  const store = createMemoryStore();
  const asked = createDeferred<void>();
  const request = { request_id: "r1" };
  await (async () => {
    await using before = await start(
      [
        () => {
          asked.resolve();
          return new Promise<never>(() => {});
        },
      ],
      { store },
    );
    const answer = before.say("hello", request);
    await asked.promise;
    await before.engine.close();
    expect((await answer).response.error).toMatchObject({ code: "cancelled", retryable: true });
  })();
  await using after = await start([says("Hello.")], { store });
  expect(shown(await after.say("hello", request))).toEqual(["Hello."]);
  expect(after.script.prompts()[0]).toHaveLength(1);
});
