import { Store } from "../state/store.ts";

/** The policy as the user has changed it on this page, over any number of its views. Undefined: it is the one in force. */
export const policyDraft = new Store<string | undefined>(undefined);

/** A line of a rule that was asked for elsewhere, until the policy is here that it goes into. */
export const wantedRule = new Store<string | undefined>(undefined);

/** The text with a rule before all others; the text itself where it has no list of rules that goes over lines. */
export const withRule = (text: string, rule: string): string =>
  text.replace(/^rules:[ \t]*(?:#.*)?$/m, (head) => `${head}\n  ${rule}`);
