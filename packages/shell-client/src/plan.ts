import type { ActionDirective, DirectivePriority } from "@harnesskit/protocol/openharness";

const ranks: Readonly<Record<DirectivePriority, number>> = { critical: 0, high: 1, normal: 2, low: 3 };
const rankOf = ({ priority = "normal" }: ActionDirective): number => ranks[priority];

/**
 * The order of the work (section 10): groups of places, one after the other. What is in one group may run together. A group
 * is one sequential directive, or, where parallel work was negotiated, a run of parallel ones, the more urgent first; among
 * sequential ones priority changes nothing, because each may need what was done before it.
 */
export const planOf = (directives: readonly ActionDirective[], isParallel: boolean): number[][] => {
  const groups: number[][] = [];
  let together: number[] | undefined;
  for (const [index, { execution }] of directives.entries()) {
    if (!isParallel || execution !== "parallel") {
      groups.push([index]);
      together = undefined;
    } else if (together) together.push(index);
    else {
      together = [index];
      groups.push(together);
    }
  }
  const rankAt = (index: number): number => rankOf(directives[index] as ActionDirective);
  for (const group of groups) group.sort((one, other) => rankAt(one) - rankAt(other));
  return groups;
};
