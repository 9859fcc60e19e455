export { superviseModel } from "./supervise-model.ts";
export { superviseTools } from "./supervise-tools.ts";
