import { workspaceAgentId } from "@harnesskit/workspace-agent/declarations";

/** Letters that digits are taken for. */
const lookalikes: Readonly<Record<string, string>> = { "0": "o", "1": "l", "3": "e", "5": "s", i: "l" };

const skeleton = (id: string): string =>
  id
    .toLowerCase()
    .replace(/[._-]/g, "")
    .replace(/[0135i]/g, (character) => lookalikes[character] ?? character);

const [vendor = ""] = workspaceAgentId.split(".");
const ours = skeleton(vendor);
const harness = skeleton("harness");
const workspace = skeleton("workspace");

/** True for an id that is ours, or that a person could take for one of ours. */
export const isReservedId = (id: string): boolean => {
  const shape = skeleton(id);
  const [first = ""] = id.split(/[._-]/);
  return (
    [harness, workspace].includes(shape) ||
    shape.startsWith(ours) ||
    skeleton(first) === harness ||
    id.split(".").some((part) => skeleton(part) === ours)
  );
};
