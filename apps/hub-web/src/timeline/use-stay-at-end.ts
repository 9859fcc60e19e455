import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";

/** As far from the end as counts as being there, in pixels. */
const endPx = 8;

/** Stays at the end of a list that was gone to, while older items are read. */
export const useStayAtEnd = (
  scroller: RefObject<HTMLElement | null>,
  items: readonly unknown[],
  isLoading: boolean,
): void => {
  const isAtEnd = useRef(false);
  useEffect(() => {
    const { current } = scroller;
    if (current === null) return undefined;
    let before = 0;
    const scrolled = () => {
      const { scrollTop, clientHeight, scrollHeight } = current;
      if (scrollTop < before) isAtEnd.current = false;
      else if (scrollTop > 0 && scrollTop + clientHeight >= scrollHeight - endPx) isAtEnd.current = true;
      before = scrollTop;
    };
    const pressed = ({ key }: KeyboardEvent) => {
      if (key === "End") isAtEnd.current = true;
    };
    current.addEventListener("scroll", scrolled);
    current.addEventListener("keydown", pressed);
    return () => {
      current.removeEventListener("scroll", scrolled);
      current.removeEventListener("keydown", pressed);
    };
  }, [scroller]);
  const wasLoading = useRef(isLoading);
  useLayoutEffect(() => {
    const { current } = scroller;
    const isRead = isLoading || wasLoading.current;
    if (isAtEnd.current && isRead && current !== null) current.scrollTop = current.scrollHeight;
    wasLoading.current = isLoading;
  }, [items]);
};
