import { onStopSignals } from "./interruption.ts";
import { io } from "./io.ts";
import { choose } from "./terminal/choose.ts";

const isInteractive = (): boolean => io().stdin.isTTY === true && io().stderr.isTTY === true;

/** The user's yes or no; undefined where there is no user. */
export const ask = async (message: string, yes: string, no: string): Promise<boolean | undefined> => {
  if (!isInteractive()) return undefined;
  const choices = [
    { value: false, label: no, key: "n" },
    { value: true, label: yes, key: "y" },
  ];
  const stop = new AbortController();
  const forget = onStopSignals(() => stop.abort());
  try {
    const { signal } = stop;
    const chosen = await choose({ message, choices, initial: false, signal, output: io().stdout });
    return typeof chosen === "object" && chosen.value;
  } finally {
    forget();
  }
};
