/**
 * Prints the findings of a check, one a line, and sets the exit code. A finding is a string that starts with the
 * place (`packages/wire/src/peer.ts:12`). `summary` says what was looked at.
 */
export function report(check, findings, summary) {
  for (const finding of findings) process.stdout.write(`${finding}\n`);
  const verdict =
    findings.length === 0 ? "ok" : `${findings.length} finding${findings.length === 1 ? "" : "s"}`;
  process.stdout.write(`${check}: ${verdict} (${summary})\n`);
  if (findings.length > 0) process.exitCode = 1;
}

/** The value of `--name VALUE` or `--name=VALUE` on the command line, or the fallback. */
export function option(name, fallback) {
  const flag = `--${name}`;
  for (const [index, argument] of process.argv.entries()) {
    if (argument === flag) return process.argv[index + 1] ?? fallback;
    if (argument.startsWith(`${flag}=`)) return argument.slice(flag.length + 1);
  }
  return fallback;
}
