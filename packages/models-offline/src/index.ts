export { createOfflineModel, type OfflineModelOptions } from "./language-model.ts";
