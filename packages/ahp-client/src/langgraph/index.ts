export { answerInterrupts } from "./answer-interrupts.ts";
export { superviseModel } from "./supervise-model.ts";
export { superviseTools } from "./supervise-tools.ts";
