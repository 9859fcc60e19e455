import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";

export interface RowSize {
  readonly row: number;
  readonly group: number;
}

/** One line for each row. */
const wide: RowSize = { row: 40, group: 40 };
/** Two lines for each row: the styles do the same at this width. */
const narrow: RowSize = { row: 62, group: 38 };
const narrowPx = 620;

/** The heights of the list's items in pixels, by the width that it has. */
export const useRowSize = (scroller: RefObject<HTMLElement | null>): RowSize => {
  const [size, setSize] = useState(wide);
  useEffect(() => {
    const { current } = scroller;
    if (current === null) return undefined;
    const observer = new ResizeObserver(([entry]) => {
      if (entry !== undefined && entry.contentRect.width > 0)
        setSize(entry.contentRect.width < narrowPx ? narrow : wide);
    });
    observer.observe(current);
    return () => observer.disconnect();
  }, [scroller]);
  return size;
};
