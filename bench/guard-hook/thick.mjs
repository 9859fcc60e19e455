// The other design: the hook's program maps the input itself, and asks the harness by AHP.
import { text } from "node:stream/consumers";
import { answerHook, findHost, readHook } from "@harnesskit/agent-hooks";
import { createAhpClient } from "@harnesskit/ahp-client";
import { createUnixTransport } from "@harnesskit/transport-uds";

const [, , host, path] = process.argv;
const transport = createUnixTransport({ path, framing: "newline" });
const client = createAhpClient({ transport, framework: host, version: "1.0.0" });
const [input] = await Promise.all([text(process.stdin), client.connect()]);
const call = readHook(findHost(host), input, { workspace: process.cwd() });
const { decision } = await client.decide("pre_action", call.event.payload, { metadata: call.event.metadata });
const { stdout, exitCode } = answerHook(call, decision);
process.stdout.write(stdout || "{}", () => process.exit(exitCode));
