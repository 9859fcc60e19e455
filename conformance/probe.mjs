// A program that a core under test starts as an agent: it writes its process, its arguments and its environment to the
// file that its last argument names, and waits for its end.
import { appendFileSync } from "node:fs";

const { pid, ppid, argv, env } = process;
appendFileSync(argv.at(-1), `${JSON.stringify({ pid, ppid, argv, env })}\n`, { mode: 0o600 });
setTimeout(() => {}, 20_000);
