export { answerInterrupts, type GraphConfig, type InterruptedGraph } from "./answer-interrupts.ts";
export { superviseModel } from "./supervise-model.ts";
export { type LangChainTool, superviseTools } from "./supervise-tools.ts";
