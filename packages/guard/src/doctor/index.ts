export { startScriptedModel } from "./scripted-model.ts";
