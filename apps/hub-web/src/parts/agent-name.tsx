import { line } from "../format.ts";

const hues = 10;
const taken = new Map<string, number>();

/** A colour by the name; the next free one where another agent has it, as long as there are enough. */
const hueOf = (name: string): number => {
  const known = taken.get(name);
  if (known !== undefined) return known;
  let hue = [...name].reduce((before, each) => (before * 31 + (each.codePointAt(0) ?? 0)) % 9973, 0) % hues;
  const used = new Set(taken.values());
  while (used.size < hues && used.has(hue)) hue = (hue + 1) % hues;
  taken.set(name, hue);
  return hue;
};

/** An agent by its name, with a colour of its own beside it. */
export function AgentName({ name }: { readonly name: string }) {
  return (
    <span class="agent">
      <i style={{ "--hue": hueOf(name) * (360 / hues) }} aria-hidden="true" />
      <span class="clip">{line(name, 100)}</span>
    </span>
  );
}
