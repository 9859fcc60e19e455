import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { isObject } from "@harnesskit/wire/json";

/** Whether Codex runs a hook: it runs only those that its user or an administrator trusts. */
export interface CodexHookTrust {
  readonly command: string;
  readonly event: string;
  /** `trusted` and `managed` hooks run; `untrusted` and `modified` ones do not, and Codex does not say so on each call. */
  readonly status: string;
  readonly isEnabled: boolean;
}

export interface CodexTrustOptions {
  /** The path of the program `codex`. */
  readonly program: string;
  /** The directory whose hooks are asked for. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** @default 10000 */
  readonly timeoutMs?: number | undefined;
}

const defaultTimeoutMs = 10_000;
const listId = 2;

const requests = (cwd: string): readonly object[] => [
  { id: 1, method: "initialize", params: { clientInfo: { name: "harnesskit", version: "1" } } },
  { method: "initialized" },
  { id: listId, method: "hooks/list", params: { cwds: [cwd] } },
];

const hooksOf = (result: unknown): CodexHookTrust[] => {
  const data = isObject(result) && Array.isArray(result.data) ? result.data.filter(isObject) : [];
  const hooks = data.flatMap(({ hooks }) => (Array.isArray(hooks) ? hooks.filter(isObject) : []));
  return hooks.flatMap(({ command, eventName, trustStatus, enabled }) =>
    typeof command === "string" && typeof eventName === "string" && typeof trustStatus === "string"
      ? [{ command, event: eventName, status: trustStatus, isEnabled: enabled !== false }]
      : [],
  );
};

/**
 * Asks the app server of Codex which of its hooks it trusts. It runs no model, and ends at once. Resolves with undefined where
 * that cannot be learned: another version, no answer in time.
 */
export const readCodexTrust = (options: CodexTrustOptions): Promise<readonly CodexHookTrust[] | undefined> =>
  new Promise((resolve) => {
    const { program, cwd, env, timeoutMs = defaultTimeoutMs } = options;
    const child = spawn(program, ["app-server"], {
      cwd,
      env: env as NodeJS.ProcessEnv,
      stdio: ["pipe", "pipe", "ignore"],
    });
    const end = (found: readonly CodexHookTrust[] | undefined) => {
      clearTimeout(timer);
      child.kill("SIGKILL");
      resolve(found);
    };
    const timer = setTimeout(end, timeoutMs, undefined);
    child.once("error", () => end(undefined));
    child.once("exit", () => end(undefined));
    child.stdin.on("error", () => {});
    createInterface({ input: child.stdout }).on("line", (line) => {
      try {
        const message: unknown = JSON.parse(line);
        if (isObject(message) && message.id === listId)
          end("result" in message ? hooksOf(message.result) : undefined);
      } catch {
        // Not a message: a note of the program.
      }
    });
    child.stdin.write(
      requests(cwd)
        .map((request) => `${JSON.stringify(request)}\n`)
        .join(""),
    );
  });
