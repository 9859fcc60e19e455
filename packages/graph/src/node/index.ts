export { currentInvocation, suspend } from "./async-context.ts";
