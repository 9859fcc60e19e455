// The same files that the policy for coding agents asks about when they are named.

const names =
  /^(?:\.env(?:[.~_-](?!example$|sample$|template$|dist$|defaults?$)[^/]*|[\s~]*)|[^/]*(?<!^)(?<!example|sample|template|dist|default)\.env|\.\.?env\.sw[a-z]|\.envrc|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?(?:[.~_-](?!pub$)[^/]*|~)?|.*\.(?:pem|p12|pfx|jks|keystore|kdbx|ppk|key|tfstate)(?:\.(?:bak|backup|old|orig|save|copy)|~)?|[._]netrc|\.npmrc|\.yarnrc\.yml|\.pypirc|\.pgpass|\.my\.cnf|\.git-credentials|\.htpasswd|\.vault-token|\.dockercfg|\.boto|\.s3cfg|\.[a-z]*_history|\.vault_pass.*|credentials(?:\.(?:json|ya?ml|toml|ini|csv|db|tfrc\.json))?|secrets?\.(?:json|ya?ml|toml|ini|env)|service[-_]account.*\.json|client_secret.*\.json|master\.key|wallet\.dat|login\.keychain.*|g?shadow-?|sudoers|krb5\.keytab|\.terraformrc|auth\.json|(?:.*\.)?kubeconfig|[^/]*(?<!example|sample)\.tfvars(?:\.json)?)$/;

const folders =
  /(?:^|\/)(?:\.ssh|\.aws|\.gnupg|\.kube|\.azure|\.password-store|\.docker\/config\.json|\.config\/(?:gcloud|gh|hub|op|rclone|doctl)|\.cargo\/credentials|\.gem\/credentials|\.terraform\.d|\.mozilla|\.config\/google-chrome|library\/keychains)(?:\/|$)|^\/etc\/(?:sudoers\.d|ssl\/private|ssh\/ssh_host_[a-z0-9]*_key)(?:\/|$)|^\/proc\/[^/]+\/(?:environ|mem)$|^\/(?:var\/)?run\/secrets(?:\/|$)|^\/dev\/mem$/;

/** Whether a path of a file, or of a folder, is one of those that hold secrets by their name. */
export const isSecretFile = (path: string): boolean => {
  const lower = path.toLowerCase();
  const name = lower.slice(lower.lastIndexOf("/") + 1);
  return !name.endsWith(".pub") && (names.test(name) || folders.test(lower));
};
