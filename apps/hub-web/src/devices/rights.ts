import { type ApprovalRecord, handledLevel } from "@harnesskit/approvals";
import type { DeviceRights } from "@harnesskit/protocol/hub";

const levels = ["low", "medium", "high", "critical"] as const;

/** What a device may do, in words. */
export const rightsText = ({ may, upTo }: DeviceRights): string => {
  if (may === "look") return "looks, and answers nothing";
  return upTo === undefined ? "answers everything" : `answers up to a ${upTo} risk`;
};

/** Why this device may not answer, in words, as the hub would refuse it; undefined where it may. */
export const rightsProblem = (
  { risk }: Pick<ApprovalRecord, "risk">,
  device: DeviceRights | undefined,
): string | undefined => {
  if (device === undefined) return undefined;
  if (device.may === "look") return "This device was paired to look, not to answer.";
  if (device.upTo === undefined) return undefined;
  const isWithin = levels.indexOf(handledLevel(risk.level)) <= levels.indexOf(device.upTo);
  return isWithin
    ? undefined
    : `This device answers up to a ${device.upTo} risk. Answer this one on the hub's machine.`;
};
