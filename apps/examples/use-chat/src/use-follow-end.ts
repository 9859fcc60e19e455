import { useLayoutEffect, useRef } from "react";

/** How far above its end the page still counts as being there, in pixels. */
const nearEnd = 160;

/** Keeps the end of the page in view while what is shown grows, unless you have scrolled up. */
export const useFollowEnd = (...shown: readonly unknown[]): void => {
  const height = useRef(0);
  useLayoutEffect(() => {
    const { scrollHeight } = document.documentElement;
    const wasAtEnd = window.scrollY + window.innerHeight > height.current - nearEnd;
    height.current = scrollHeight;
    if (wasAtEnd) window.scrollTo({ top: scrollHeight });
  }, shown);
};
