import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "./icons.tsx";

const icons = { plain: "help", warn: "warning", bad: "warning", good: "check" } as const satisfies Record<
  string,
  IconName
>;

interface NoteProps {
  readonly tone?: keyof typeof icons;
  readonly children: ComponentChildren;
}

export function Note({ tone = "plain", children }: NoteProps) {
  return (
    <div class={`note ${tone}`}>
      <Icon name={icons[tone]} size={16} />
      <div>{children}</div>
    </div>
  );
}
