// All in lower case.

const names =
  /^(?:\.env(?:[.~_-](?!example$|sample$|template$|dist$|defaults?$)[^/]*|[\s~]*)|[^/]*(?<!^)(?<!example|sample|template|dist|default)\.env|\.\.?env\.sw[a-z]|\.envrc|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?(?:[.~_-](?!pub$)[^/]*|~)?|.*\.(?:pem|p12|pfx|jks|keystore|kdbx|ppk|key|tfstate)(?:\.(?:bak|backup|old|orig|save|copy)|~)?|[._]netrc|\.npmrc|\.yarnrc\.yml|\.pypirc|\.pgpass|\.my\.cnf|\.git-credentials|\.htpasswd|\.vault-token|\.dockercfg|\.boto|\.s3cfg|\.[a-z]*_history|\.vault_pass.*|credentials(?:\.(?:json|ya?ml|toml|ini|csv|db|tfrc\.json))?|secrets?\.(?:json|ya?ml|toml|ini|env)|service[-_]account.*\.json|client_secret.*\.json|master\.key|wallet\.dat|login\.keychain.*|g?shadow-?|sudoers|krb5\.keytab|\.terraformrc|auth\.json|(?:.*\.)?kubeconfig|[^/]*(?<!example|sample)\.tfvars(?:\.json)?)$/;

const folders =
  /(?:^|\/)(?:\.ssh|\.aws|\.gnupg|\.kube|\.azure|\.password-store|\.docker\/config\.json|\.config\/(?:gcloud|gh|hub|op|rclone|doctl)|\.cargo\/credentials|\.gem\/credentials|\.terraform\.d|\.mozilla|\.config\/google-chrome|library\/keychains)(?:\/|$)|^\/etc\/(?:sudoers\.d|ssl\/private|ssh\/ssh_host_[a-z0-9]*_key)(?:\/|$)|^\/proc\/[^/]+\/(?:environ|mem)$|^\/(?:var\/)?run\/secrets(?:\/|$)|^\/dev\/mem$/;

/** Files of a repository that hold the credentials of its remotes, if their addresses do. */
const gitConfig = /(?:^|\/)\.git\/(?:.+\/)?config(?:\.worktree)?$/;

/** How editors, backups and people name copies of a file: the name of the original, or the names that it may have. */
const copies: readonly (readonly [RegExp, ...string[]])[] = [
  // Emacs: #x# and .#x. macOS: ._x.
  [/^#(.+)#$/, "$1"],
  [/^\.[#_](.+)$/, "$1"],
  // Vim: a dot goes before, unless there is one. Kate likewise.
  [/^\.(.+)\.(?:sw[a-z]|un~|kate-swp)$/, ".$1", "$1"],
  // Emacs and Vim, in a directory of backups: the whole path, with ! or % for its slashes.
  [/^[!%].*[!%](.+)$/, "$1"],
  [/^(.+?)(?:~|\.~\d+~)$/, "$1"],
  [
    /^(.+?)[._-](?:bak|backup|bkp|old|orig|original|save|saved|copy|rej|tmp|temp|prev|dpkg-[a-z]+|rpm[a-z]+|ucf-[a-z]+)\d*$/,
    "$1",
  ],
  [/^(.+?)[._-]\d[\d._:tz-]*$/, "$1"],
  [/^(.+?)(?: ?\(\d+\)| copy(?: \d+)?)$/, "$1"],
];

const maxOriginals = 16;

/** A name and the names of which it may be a copy, a copy of a copy included; undefined if there are too many. */
function originals(name: string): string[] | undefined {
  const found = new Set([name]);
  for (const one of found) {
    if (found.size > maxOriginals) return undefined;
    for (const [form, ...results] of copies) {
      if (form.test(one)) for (const result of results) found.add(one.replace(form, result));
    }
  }
  return [...found];
}

/**
 * Whether a path of a file, or of a folder, is one of those that hold secrets by their name, or a copy of one by its name:
 * `.env`, `#.env#`, `.env.swp`, `.git/config.bak`. `.env.example` and public keys are not. A copy of a copy many times over counts as one.
 */
export const isSecretFile = (path: string): boolean => {
  const lower = path.toLowerCase();
  const nameStart = lower.lastIndexOf("/") + 1;
  if (lower.endsWith(".pub")) return false;
  const folder = lower.slice(0, nameStart);
  const found = originals(lower.slice(nameStart));
  return (
    found === undefined ||
    found.some((name) => names.test(name) || folders.test(folder + name) || gitConfig.test(folder + name))
  );
};
