import { onStopSignals } from "../interruption.ts";
import { io } from "../io.ts";
import { askApproval } from "../terminal/keyboard.ts";

const isInteractive = (): boolean => io().stdin.isTTY === true && io().stderr.isTTY === true;

/** The user's yes or no; undefined where there is no user. */
export const ask = async (message: string, yes: string, no: string): Promise<boolean | undefined> => {
  if (!isInteractive()) return undefined;
  const choices = [
    { value: false, label: no },
    { value: true, label: yes },
  ];
  const stop = new AbortController();
  const forget = onStopSignals(() => stop.abort());
  try {
    return (await askApproval<boolean>(choices, false, stop.signal, { message })) === true;
  } finally {
    forget();
  }
};
