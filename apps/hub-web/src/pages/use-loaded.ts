import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { failureText } from "../state/failures.ts";
import type { HubLink } from "../state/hub-link.ts";
import { useStore } from "../state/store.ts";

export interface Loaded<T> {
  readonly value: T | undefined;
  readonly problem: string | undefined;
  readonly reload: () => void;
}

/** What a call gives, read at each connection and when `reload` is called. */
export const useLoaded = <T>(link: HubLink, load: () => Promise<T>): Loaded<T> => {
  const state = useStore(link.state);
  const [value, setValue] = useState<T>();
  const [problem, setProblem] = useState<string>();
  const latest = useRef(load);
  latest.current = load;
  const reload = useCallback(() => {
    latest.current().then(
      (loaded) => {
        setValue(() => loaded);
        setProblem(undefined);
      },
      (error: unknown) => setProblem(failureText(error)),
    );
  }, []);
  useEffect(() => {
    if (state === "ready") reload();
  }, [state, reload]);
  return { value, problem, reload };
};
