// A program that a core under test starts as an agent: it writes its process, its arguments and its environment to the
// file that its last argument names, whole at once, and waits for its end.
import { renameSync, writeFileSync } from "node:fs";

const { pid, ppid, argv, env } = process;
const file = argv.at(-1);
writeFileSync(`${file}.new`, `${JSON.stringify({ pid, ppid, argv, env })}\n`, { mode: 0o600 });
renameSync(`${file}.new`, file);
setTimeout(() => {}, 20_000);
