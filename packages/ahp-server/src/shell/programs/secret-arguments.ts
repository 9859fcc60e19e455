import type { Runner } from "../call.ts";
import { findSecrets } from "../find-secrets.ts";
import { isSecret } from "../marks.ts";

/** Names secrets that stand in the arguments of a program, where other programs see them. */
export const noteSecretArguments = (
  run: Runner,
  name: string,
  args: readonly string[],
  network: boolean,
): void => {
  if (args.length === 0) return;
  const text = args.join("\n");
  if (network && isSecret(text)) {
    run.noteSecret();
    run.report("exfiltration", "sends-secret", `${name} is given a secret as an argument`);
  }
  if (!network && isSecret(text)) {
    run.noteSecret();
    run.report("read", "uses-secret", `${name} is given a secret as an argument`);
  }
  if (text.length < 16 || !findSecrets(text).some(({ certain }) => certain)) return;
  run.noteSecret();
  if (network) run.report("exfiltration", "secret-in-arguments", `the arguments of ${name} hold a secret`);
  else
    run.report("write", "secret-in-arguments", `the arguments of ${name} hold a secret that others can see`);
};
