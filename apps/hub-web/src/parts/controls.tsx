import type { ComponentProps } from "preact";
import { Icon, type IconName } from "./icons.tsx";

interface IconButtonProps extends Omit<ComponentProps<"button">, "icon" | "label"> {
  readonly icon: IconName;
  readonly label: string;
  readonly className?: string;
}

/** A button that is a picture, with its words beside the pointer. */
export function IconButton({ icon, label, className = "", ...rest }: IconButtonProps) {
  const classes = `button quiet icon ${className}`;
  return (
    <button type="button" class={classes} aria-label={label} title={label} {...rest}>
      <Icon name={icon} />
    </button>
  );
}

export function CloseButton({ onClose }: { readonly onClose: () => void }) {
  return <IconButton icon="close" label="Close" title={undefined} onClick={onClose} />;
}

interface SelectProps<T> {
  /** For the label that names it. */
  readonly id?: string;
  /** @default it has a label */
  readonly label?: string;
  readonly className?: string;
  readonly value: T;
  readonly options: readonly (readonly [T, string])[];
  readonly onChange: (value: T) => void;
}

/** A choice of one value. */
export function Select<T extends string | number>({
  id,
  label,
  className = "input",
  value,
  options,
  onChange,
}: SelectProps<T>) {
  return (
    <select
      id={id}
      class={className}
      aria-label={label}
      value={value}
      onChange={({ currentTarget }) => {
        const chosen = options[currentTarget.selectedIndex];
        if (chosen !== undefined) onChange(chosen[0]);
      }}
    >
      {options.map(([each, text]) => (
        <option key={each} value={each}>
          {text}
        </option>
      ))}
    </select>
  );
}
