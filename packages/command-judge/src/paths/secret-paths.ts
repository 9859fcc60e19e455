import { namesMark } from "../marks.ts";
import { isPattern, mayMatch } from "./glob.ts";

const names =
  /^(?:\.env(?:[.~_-](?!example$|sample$|template$|dist$|defaults?$)[^/]*|[\s~]*)|[^/]*(?<!^)(?<!example|sample|template|dist|default)\.env|\.\.?env\.sw[a-z]|\.envrc|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?(?:[.~_-](?!pub$)[^/]*|~)?|.*\.(?:pem|p12|pfx|jks|keystore|kdbx|ppk|key|tfstate)(?:\.(?:bak|backup|old|orig|save|copy)|~)?|[._]netrc|\.npmrc|\.yarnrc\.yml|\.pypirc|\.pgpass|\.my\.cnf|\.git-credentials|\.htpasswd|\.vault-token|\.dockercfg|\.boto|\.s3cfg|\.[a-z]*_history|\.vault_pass.*|credentials(?:\.(?:json|ya?ml|toml|ini|csv|db|tfrc\.json))?|secrets?\.(?:json|ya?ml|toml|ini|env)|service[-_]account.*\.json|client_secret.*\.json|master\.key|wallet\.dat|login\.keychain.*|g?shadow-?|sudoers|krb5\.keytab|\.terraformrc|auth\.json|(?:.*\.)?kubeconfig|[^/]*(?<!example|sample)\.tfvars(?:\.json)?)$/;

const folders =
  /(?:^|\/)(?:\.ssh|\.aws|\.gnupg|\.kube|\.azure|\.password-store|\.docker\/config\.json|\.config\/(?:gcloud|gh|hub|op|rclone|doctl)|\.cargo\/credentials|\.gem\/credentials|\.terraform\.d|\.mozilla|\.config\/google-chrome|library\/keychains)(?:\/|$)|^\/etc\/(?:sudoers\.d|ssl\/private|ssh\/ssh_host_[a-z0-9]*_key)(?:\/|$)|^\/proc\/[^/]+\/(?:environ|mem)$|^\/(?:var\/)?run\/secrets(?:\/|$)|^\/dev\/mem$/;

/** A pattern that may stand for one of these stands for a secret. */
const samples = [
  ".env",
  ".env.local",
  ".netrc",
  ".npmrc",
  ".pgpass",
  ".git-credentials",
  ".ssh",
  ".aws",
  ".gnupg",
  ".kube",
  "id_rsa",
  "id_ed25519",
];

const patternIsSecret = (segment: string): boolean =>
  // `*` and `*.ts` are everybody's patterns; a star does not stand for a leading dot either.
  (!/^[*?]/.test(segment) || segment.replace(/[*?]/g, "").length > 2) &&
  !/^\.?\*+$/.test(segment) &&
  samples.some((sample) => mayMatch(segment, sample));

/** Whether a normalised path is, or by its patterns may be, a file or a folder that holds secrets. */
export const isSecretPath = (path: string): boolean => {
  const lower = path.toLowerCase();
  const segments = lower.split("/");
  const last = segments.at(-1) ?? "";
  if (last.endsWith(".pub")) return false;
  if (names.test(last) || folders.test(lower)) return true;
  if (!isPattern(lower)) return false;
  return (
    segments.some((segment) => isPattern(segment) && patternIsSecret(segment)) ||
    mayMatch(lower, "/etc/shadow")
  );
};

/** Names of secret files that a common pattern such as `*`, `.*` or `*.json` may stand for. */
const commonSamples = [
  ".env",
  ".npmrc",
  ".netrc",
  "id_rsa",
  "credentials",
  "server.pem",
  "server.key",
  "terraform.tfstate",
  "prod.env",
  "secrets.json",
  "secrets.yaml",
  "secrets.toml",
  "prod.tfvars",
];

/** Whether a path has a pattern as its last part that may stand for a secret file, as `*` and `*.json` do. */
export const mayHoldSecrets = (path: string): boolean => {
  const last = (path.split("/").at(-1) ?? "").replaceAll(namesMark, "*").toLowerCase();
  return isPattern(last) && commonSamples.some((sample) => mayMatch(last, sample));
};
