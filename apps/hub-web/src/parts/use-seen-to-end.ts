import type { RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

/** Whether the end of something was in sight, since it last changed. Put `end` on an element behind it. */
export const useSeenToEnd = (
  key: string,
): { readonly end: RefObject<HTMLDivElement | null>; readonly isSeen: boolean } => {
  const end = useRef<HTMLDivElement>(null);
  const [seenKey, setSeenKey] = useState<string>();
  useEffect(() => {
    const { current } = end;
    if (current === null) return undefined;
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) setSeenKey(key);
    });
    observer.observe(current);
    return () => observer.disconnect();
  }, [key]);
  return { end, isSeen: seenKey === key };
};
