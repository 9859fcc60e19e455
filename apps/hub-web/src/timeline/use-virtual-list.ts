import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  type VirtualItem,
  Virtualizer,
} from "@tanstack/virtual-core";
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";

export interface VirtualListOptions {
  readonly scroller: RefObject<HTMLElement | null>;
  readonly keys: readonly string[];
  readonly sizeOf: (index: number) => number;
}

export interface VirtualList {
  readonly items: readonly VirtualItem[];
  readonly totalSize: number;
  /** `start`: to the top of what is in sight. @default as little as shows it */
  readonly scrollTo: (index: number, align?: "auto" | "start" | "end") => void;
  readonly toEnd: () => void;
  readonly offset: number;
}

/** As far from either end as counts as being there, in pixels. */
const edgePx = 8;

/** The part of a long list that is in sight. What is read stays where it is while items are added above it, and so does its end. */
export const useVirtualList = ({ scroller, keys, sizeOf }: VirtualListOptions): VirtualList => {
  const [, redraw] = useState({});
  const list = useRef<Virtualizer<HTMLElement, HTMLElement>>(undefined);
  const keyOf = useMemo(() => (index: number) => keys[index] ?? "", [keys]);
  const isAtStart = (list.current?.scrollOffset ?? 0) <= edgePx;
  const options = {
    count: keys.length,
    getScrollElement: () => scroller.current,
    estimateSize: sizeOf,
    getItemKey: keyOf,
    overscan: 8,
    anchorTo: isAtStart ? ("start" as const) : ("end" as const),
    followOnAppend: true,
    scrollEndThreshold: edgePx,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    onChange: () => redraw({}),
  };
  list.current ??= new Virtualizer<HTMLElement, HTMLElement>(options);
  const virtual = list.current;
  virtual.setOptions(options);
  useEffect(() => virtual._didMount(), [virtual]);
  useLayoutEffect(() => virtual._willUpdate());
  return {
    items: virtual.getVirtualItems(),
    totalSize: virtual.getTotalSize(),
    scrollTo: (index, align = "auto") => virtual.scrollToIndex(index, { align }),
    toEnd: () => virtual.scrollToEnd(),
    offset: virtual.scrollOffset ?? 0,
  };
};
