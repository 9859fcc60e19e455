import { displayText } from "@harnesskit/wire";
import { notAllowed, notFound, reasonOf } from "./api-errors.ts";
import { byOf, type Handlers } from "./handlers.ts";
import type { HubApiOptions } from "./hub-api.ts";

type PolicyMethods = Pick<Handlers, Extract<keyof Handlers, `policy.${string}`>>;

const readOnlyText = "this hub was not started with a policy file that it may write";

/** The methods of the API about the policy. */
export const policyMethods = ({
  policy,
  recorder,
  timeline,
  audit,
}: Pick<HubApiOptions, "policy" | "recorder" | "timeline" | "audit">): PolicyMethods => {
  const state = async () => {
    await recorder.flush();
    return { policy: await policy.state() };
  };
  return {
    "policy.get": state,
    "policy.check": async ({ text, rowId }) => {
      if (rowId === undefined) return policy.check(text);
      await recorder.flush();
      const stored = await timeline.get(rowId);
      if (stored === undefined) throw notFound("row", rowId);
      return { ...policy.check(text, stored.content.event), row: stored.row };
    },
    "policy.save": async (change, client) => {
      const details = { by: byOf(client), file: displayText(policy.file, { maxLength: 1000 }) };
      try {
        if (!policy.canSave) throw notAllowed("policy_read_only", readOnlyText);
        await policy.save(change);
        audit({ action: "hub.policy.save", outcome: "ok", details });
      } catch (error) {
        audit({
          action: "hub.policy.save",
          outcome: "refused",
          details: { ...details, reason: reasonOf(error) },
        });
        throw error;
      }
      return state();
    },
    "policy.backtest": async ({ watchId, ...asked } = {}, client, { signal }) => {
      await recorder.flush();
      return policy.backtest(asked, signal, (progress) => {
        // A connection that is lost ends the call, too.
        if (watchId !== undefined) client.notify("policy.progress", { watchId, ...progress }).catch(() => {});
      });
    },
  };
};
