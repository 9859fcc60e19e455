import { defineOptions } from "@harnesskit/wire";
import type { ApprovalStoreOptions } from "./create-approval-store.ts";

export const checkApprovalStoreOptions = defineOptions<ApprovalStoreOptions>("createApprovalStore", {
  limits: false,
  clock: false,
  createId: false,
});
