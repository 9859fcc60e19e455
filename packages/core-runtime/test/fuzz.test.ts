import fc from "fast-check";
import { expect, it } from "vitest";
import { runs } from "../../../test-kit/nightly.ts";
import { nextTurn } from "../../../test-kit/test-kit.ts";
import {
  connected,
  echoTool,
  launchOf,
  type Message,
  open,
  openCore,
  type ScriptedAgent,
  silentObserver,
} from "./support/scripted-agent.ts";

const frame = (bytes: Uint8Array): Uint8Array => {
  const header = Buffer.alloc(4);
  header.writeUInt32BE(bytes.length);
  return Buffer.concat([header, bytes]);
};

const types = fc.constantFrom(
  ..."agent.hello agent.tools.register agent.tools.unregister agent.tool.stream agent.tool.result agent.tool.cancel_ack agent.heartbeat agent.pong agent.error core.welcome agent.other toString".split(
    " ",
  ),
);

const key = fc.constantFrom(
  ..."v type id ts payload error request_id in_reply_to call_id tools tool_ids status output seq data channel input_schema __proto__ constructor".split(
    " ",
  ),
);

const value = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.dictionary(key, fc.jsonValue({ maxDepth: 2 })),
  fc.string(),
);

const anyMessage = fc.record(
  {
    v: fc.oneof({ weight: 8, arbitrary: fc.constant<unknown>(1) }, { weight: 1, arbitrary: fc.jsonValue() }),
    type: fc.oneof<fc.Arbitrary<unknown>[]>(types, types, fc.jsonValue()),
    id: fc.oneof<fc.Arbitrary<unknown>[]>(fc.uuid(), fc.uuid(), fc.jsonValue()),
    ts: fc.oneof<fc.Arbitrary<unknown>[]>(fc.constant("2026-01-16T12:00:00Z"), fc.jsonValue()),
    request_id: fc.oneof<fc.Arbitrary<unknown>[]>(fc.uuid(), fc.jsonValue()),
    in_reply_to: value,
    error: value,
    payload: fc.oneof(
      value,
      fc.record({
        tools: fc.array(
          fc.oneof(
            value,
            fc.constant(echoTool()),
            fc.record({ tool_id: value, name: value, description: value, input_schema: value }),
          ),
        ),
      }),
      fc.record(
        {
          call_id: fc.constant("live"),
          status: value,
          output: value,
          seq: value,
          channel: value,
          data: value,
        },
        { requiredKeys: ["call_id"] },
      ),
    ),
  },
  { requiredKeys: ["type"] },
);

const bytes = fc.oneof(
  { weight: 2, arbitrary: fc.uint8Array({ maxLength: 64 }) },
  { weight: 3, arbitrary: fc.uint8Array({ maxLength: 64 }).map(frame) },
  { weight: 6, arbitrary: anyMessage.map((message) => frame(Buffer.from(JSON.stringify(message)))) },
  {
    weight: 3,
    arbitrary: fc.tuple(anyMessage, fc.nat(), fc.nat(255)).map(([message, at, byte]) => {
      const mutated = Buffer.from(JSON.stringify(message));
      mutated[at % mutated.length] = byte;
      return frame(mutated);
    }),
  },
);

const states = ["connected", "welcomed", "calling"] as const;

it("whatever bytes an agent sends, in whatever state, the core lives, its answers are messages, calls end, and the agent beside is unharmed", async () => {
  const core = openCore({ limits: { maxInvalidMessages: 20 }, cancelGraceMs: 1 });
  const witness = await connected(core, { agentId: "witness" });
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  process.on("unhandledRejection", note);
  process.on("uncaughtException", note);
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...states),
      fc.array(bytes, { minLength: 1, maxLength: 12 }),
      async (state, chunks) => {
        const { agent, admission, call } = await reach(state);
        for (const chunk of chunks) {
          // The id of the running call, so that what is sent reaches it.
          const text = Buffer.from(chunk)
            .toString("latin1")
            .replace('"live"', `"${call?.callId ?? "none"}"`);
          const payload = Buffer.from(text, "latin1");
          agent.wire?.writeRaw(payload.length === chunk.length ? payload : frame(payload.subarray(4)));
          await nextTurn(1);
        }
        const probe = core.call("witness/echo", { text: "x" });
        witness.agent.succeed(await witness.agent.next("core.tool.call"));
        expect((await probe.result).status).toBe("succeeded");
        admission.revoke();
        await agent.channel.close();
        if (call) expect(["succeeded", "failed", "canceled"]).toContain((await call.result).status);
        for (const message of agent.received) {
          expect(message).toMatchObject({
            v: 1,
            type: expect.stringMatching(/^core\./),
            payload: expect.any(Object),
          });
          if (message.type === "core.error") expect(message.error.code).toMatch(/^protocol\./);
        }
        expect(JSON.stringify(agent.received)).not.toContain(admission.token);
      },
    ),
    { numRuns: runs(60) },
  );
  process.off("unhandledRejection", note);
  process.off("uncaughtException", note);
  expect(unhandled).toEqual([]);
  expect(core.agents().map(({ agentId }) => agentId)).toEqual(["witness"]);
  expect(({} as Message).polluted).toBeUndefined();
  await core.close();

  async function reach(state: (typeof states)[number]) {
    const admission = core.admit(launchOf("demo.agent"), silentObserver);
    const agent: ScriptedAgent = open(core);
    if (state === "connected") return { agent, admission, call: undefined };
    await agent.connect(admission.token);
    if (state === "welcomed") return { agent, admission, call: undefined };
    await agent.register([echoTool()]);
    const call = core.call("demo.agent/echo", { text: "x" });
    await agent.next("core.tool.call");
    return { agent, admission, call };
  }
}, 60_000);
