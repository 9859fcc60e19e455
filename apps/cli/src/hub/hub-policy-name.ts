import { createHubClient } from "@harnesskit/hub/client";
import type { HubPlace } from "@harnesskit/hub/place";
import { createUnixTransport } from "@harnesskit/transport-uds";

const timeoutMs = 2000;

/** The name of the policy that a hub goes by; "of the hub" where it does not say in time. */
export const hubPolicyName = async ({ apiSocket }: Pick<HubPlace, "apiSocket">): Promise<string> => {
  const transport = createUnixTransport({ path: apiSocket, framing: "newline" });
  const client = createHubClient({ transport, client: { name: "harness" } });
  try {
    await client.connect({ timeoutMs });
    return (await client.call("policy.get", undefined, { timeoutMs })).policy.name;
  } catch {
    return "of the hub";
  } finally {
    await client.close();
  }
};
