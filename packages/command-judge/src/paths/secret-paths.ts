import { namesMark } from "../marks.ts";
import { isSecretFile } from "../secret-files.ts";
import { isPattern, mayMatch } from "./glob.ts";

/** A pattern that may stand for one of these stands for a secret. */
const samples =
  ".env .env.local .netrc .npmrc .pgpass .git-credentials .ssh .aws .gnupg .kube id_rsa id_ed25519".split(
    " ",
  );

const patternIsSecret = (segment: string): boolean =>
  // `*` and `*.ts` are common patterns; a star does not stand for a leading dot either.
  (!/^[*?]/.test(segment) || segment.replace(/[*?]/g, "").length > 2) &&
  !/^\.?\*+$/.test(segment) &&
  samples.some((sample) => mayMatch(segment, sample));

/** Whether a normalised path is, or by its patterns may be, a file or a folder that holds secrets. */
export const isSecretPath = (path: string): boolean => {
  const lower = path.toLowerCase();
  const segments = lower.split("/");
  if (lower.endsWith(".pub")) return false;
  if (isSecretFile(lower)) return true;
  if (!isPattern(lower)) return false;
  return (
    segments.some((segment) => isPattern(segment) && patternIsSecret(segment)) ||
    mayMatch(lower, "/etc/shadow")
  );
};

/** Names of secret files that a common pattern such as `*`, `.*` or `*.json` may stand for. */
const commonSamples =
  ".env .npmrc .netrc id_rsa credentials server.pem server.key terraform.tfstate prod.env secrets.json secrets.yaml secrets.toml prod.tfvars".split(
    " ",
  );

/** Whether a path has a pattern as its last part that may stand for a secret file, as `*` and `*.json` do. */
export const mayHoldSecrets = (path: string): boolean => {
  const last = (path.split("/").at(-1) ?? "").replaceAll(namesMark, "*").toLowerCase();
  return isPattern(last) && commonSamples.some((sample) => mayMatch(last, sample));
};
