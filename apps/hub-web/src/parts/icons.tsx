import type { JSX } from "preact";

/** Outlines on a grid of 20 by 20. */
const outlines = {
  inbox:
    "M3 11l2.2-6.2A1.2 1.2 0 0 1 6.3 4h7.4a1.2 1.2 0 0 1 1.1.8L17 11v4a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1zM3 11h4l1 2h4l1-2h4",
  timeline: "M4 5h12M4 10h8M4 15h10M16 10h.01",
  agents: "M7 8a3 3 0 1 1 6 0 3 3 0 0 1-6 0zM4 16.5c.8-2.6 3.2-4 6-4s5.2 1.4 6 4",
  policy: "M10 3l6 2.2v4.6c0 3.4-2.4 6-6 7.2-3.6-1.2-6-3.8-6-7.2V5.2zM7.6 10l1.7 1.7 3.2-3.4",
  grants: "M12.5 7.5a3 3 0 1 0-2.8 3L8.5 12v1.5H7V15H4.5v-2.5l4-4",
  phone: "M6.5 2.5h7a1 1 0 0 1 1 1v13a1 1 0 0 1-1 1h-7a1 1 0 0 1-1-1v-13a1 1 0 0 1 1-1zM9 15h2",
  bell: "M5 13.5V9a5 5 0 0 1 10 0v4.5l1 1.5H4zM8.5 15a1.5 1.5 0 0 0 3 0",
  bellOff:
    "M5 13.5V9c0-.9.2-1.7.6-2.4M8 4.4A5 5 0 0 1 15 9v3M14 15H4l1-1.5M8.5 15a1.5 1.5 0 0 0 3 0M3.5 3.5l13 13",
  theme: "M10 3.5a6.5 6.5 0 1 0 0 13zM10 3.5a6.5 6.5 0 0 1 0 13",
  help: "M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM8 8a2 2 0 1 1 2.8 1.850c-.5.2-.8.6-.8 1.150M10 13.5h.01",
  close: "M5 5l10 10M15 5L5 15",
  check: "M4 10.5l4 4 8-9",
  cross: "M5.5 5.5l9 9M14.5 5.5l-9 9",
  clock: "M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM10 6v4l2.7 1.6",
  warning: "M10 3.5l7 12.5H3zM10 8.5v3M10 13.6h.01",
  search: "M9 14.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11zM13 13l3.5 3.5",
  link: "M8.5 11.5a3 3 0 0 0 4.2 0l2.4-2.4a3 3 0 0 0-4.2-4.2l-.9.9M11.5 8.5a3 3 0 0 0-4.2 0l-2.4 2.4a3 3 0 0 0 4.2 4.2l.9-.9",
  copy: "M7 7V4.5A.5.5 0 0 1 7.5 4h8a.5.5 0 0 1 .5.5v8a.5.5 0 0 1-.5.5H13M4.5 7h8a.5.5 0 0 1 .5.5v8a.5.5 0 0 1-.5.5h-8a.5.5 0 0 1-.5-.5v-8a.5.5 0 0 1 .5-.5z",
  always: "M4 10a4 4 0 0 1 4-4h6M11.5 3.5L14 6l-2.5 2.5M16 10a4 4 0 0 1-4 4H6M8.5 16.5L6 14l2.5-2.5",
  down: "M10 4v11M5.5 10.5L10 15l4.5-4.5",
  up: "M10 16V5M5.5 9.5L10 5l4.5 4.5",
} as const;

export type IconName = keyof typeof outlines;

interface IconProps {
  readonly name: IconName;
  readonly size?: number;
}

/** A picture without words: what it means is said beside it. */
export function Icon({ name, size = 18 }: IconProps): JSX.Element {
  return (
    <svg viewBox="0 0 20 20" width={size} height={size} aria-hidden="true" focusable="false">
      <path
        d={outlines[name]}
        fill="none"
        stroke="currentColor"
        stroke-width="1.6"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  );
}
