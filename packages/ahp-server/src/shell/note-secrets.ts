import { findSecrets } from "./find-secrets.ts";
import type { Findings } from "./findings.ts";

/** Names secrets that stand in the text of a command itself. */
export const noteSecretsIn = (command: string, findings: Findings): void => {
  if (command.length < 16) return;
  const first = findSecrets(command).find(({ certain }) => certain);
  if (first === undefined) return;
  findings.secrets = true;
  findings.report("write", "secret-in-text", "the text of the command holds a secret", first.at);
};
