import { refuseWith } from "./answers.ts";
import type { Answer, RequestView } from "./request-view.ts";

/** Paths that tell, without credentials, how the server is. */
export interface HealthOptions {
  /** 200 as long as the process answers. @default "/healthz" */
  readonly livePath?: string | undefined;
  /** 200 when `ready` says so, else 503. @default "/readyz" */
  readonly readyPath?: string | undefined;
  /** Whether messages would be taken. A hook that throws says no. @default always */
  readonly ready?: (() => boolean | Promise<boolean>) | undefined;
}

export interface HealthRules {
  /** The answer where the path is one of these; undefined for other paths. */
  answer(request: RequestView): Answer | Promise<Answer> | undefined;
}

const plainText = (status: number, body: string): Answer => ({
  status,
  headers: { "content-type": "text/plain; charset=utf-8" },
  body,
});

const readiness = async (ready: () => boolean | Promise<boolean>): Promise<Answer> => {
  let isReady = false;
  try {
    isReady = await ready();
  } catch {
    // A hook that fails cannot say yes.
  }
  return isReady ? plainText(200, "ready") : plainText(503, "not ready");
};

/** Makes the rules; `false` serves no such paths. */
export const createHealthRules = (options: HealthOptions | false = {}): HealthRules => {
  if (options === false) return { answer: () => undefined };
  const { livePath = "/healthz", readyPath = "/readyz", ready = () => true } = options;
  return {
    answer({ path, method }) {
      if (path !== livePath && path !== readyPath) return undefined;
      if (method !== "GET" && method !== "HEAD") return refuseWith(405, { allow: "GET, HEAD" });
      return path === livePath ? plainText(200, "ok") : readiness(ready);
    },
  };
};
