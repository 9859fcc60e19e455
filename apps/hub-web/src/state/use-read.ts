import type { HubClient } from "@harnesskit/hub/client";
import { useEffect, useRef, useState } from "preact/hooks";
import { useApp } from "./app.ts";
import { failureText, isLost } from "./failures.ts";
import { useStore } from "./store.ts";

export interface Read<T> {
  /** What was read last for this key; undefined before. */
  readonly value: T | undefined;
  readonly problem: string | undefined;
  readonly reload: () => void;
}

interface ReadOptions {
  /** What is read: the value of another key is not shown. */
  readonly key?: string | number | undefined;
  /** It is read again when this changes. */
  readonly version?: number | undefined;
  /** How often it is read again while it is looked at. @default never */
  readonly everyMs?: number;
}

/** What the hub answers: read at each connection, when the key changes and when `reload` is called. */
export const useRead = <T>(
  read: (client: HubClient) => Promise<T>,
  { key = "", version, everyMs }: ReadOptions = {},
): Read<T> => {
  const { link } = useApp();
  const state = useStore(link.state);
  const [found, setFound] = useState<{ readonly key: string | number; readonly value: T }>();
  const [problem, setProblem] = useState<string>();
  const latest = useRef({ read, key });
  latest.current = { read, key };
  const reload = useRef(() => {
    const asked = latest.current;
    const isLate = () => latest.current.key !== asked.key;
    asked.read(link.client).then(
      (value) => {
        if (isLate()) return;
        setFound({ key: asked.key, value });
        setProblem(undefined);
      },
      (error: unknown) => !isLate() && !isLost(error) && setProblem(failureText(error)),
    );
  }).current;
  useEffect(() => {
    if (state !== "ready") return undefined;
    reload();
    if (everyMs === undefined) return undefined;
    const timer = setInterval(() => !document.hidden && reload(), everyMs);
    return () => clearInterval(timer);
  }, [state, key, version, everyMs]);
  return { value: found?.key === key ? found.value : undefined, problem, reload };
};
