import type { HubPlace } from "@harnesskit/hub/place";
import { withHubClient } from "./hub-client.ts";

const timeoutMs = 2000;

/** The name of the policy that a hub goes by; "of the hub" where it does not say in time. */
export const hubPolicyName = (place: Pick<HubPlace, "apiSocket">): Promise<string> =>
  withHubClient(place, { client: { name: "harness" }, timeoutMs }, async (client) => {
    const { policy } = await client.call("policy.get", undefined, { timeoutMs });
    return policy.name;
  }).catch(() => "of the hub");
