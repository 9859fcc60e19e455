import { useEffect, useState } from "preact/hooks";

/** How long a question is shown before it can be answered: a key or click that was meant for another one does not count. */
const armMs = 350;

export const useArmed = (key: string): boolean => {
  const [armedKey, setArmedKey] = useState<string>();
  useEffect(() => {
    const timer = setTimeout(() => setArmedKey(key), armMs);
    return () => clearTimeout(timer);
  }, [key]);
  return armedKey === key;
};
