import { useState } from "preact/hooks";
import { failureText } from "./failures.ts";

/** What a user starts by a button: whether it goes on, and why it failed last. */
export const useAction = <Given extends unknown[]>(act: (...given: Given) => Promise<unknown>) => {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const run = async (...given: Given) => {
    setBusy(true);
    setProblem(undefined);
    try {
      await act(...given);
    } catch (error) {
      setProblem(failureText(error));
    }
    setBusy(false);
  };
  return { isBusy, problem, run: (...given: Given) => void run(...given) };
};
