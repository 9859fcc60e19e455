import type { RefObject } from "preact";
import { useWidth } from "../parts/use-width.ts";
import type { TimelineItem } from "./items.ts";

export type ItemSizes = Readonly<Record<TimelineItem["kind"], number>>;

/** One line for each row. */
const wide: ItemSizes = { day: 34, session: 44, turn: 34, row: 38 };
/** Two lines for each row and session: the styles do the same at this width. */
const narrow: ItemSizes = { day: 32, session: 62, turn: 34, row: 62 };
const narrowPx = 620;

/** The heights of the list's items in pixels, by the width that it has. */
export const useRowSize = (scroller: RefObject<HTMLElement | null>): ItemSizes =>
  (useWidth(scroller) ?? narrowPx) < narrowPx ? narrow : wide;
