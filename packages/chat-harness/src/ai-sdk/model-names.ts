import { type MediaPlace, mediaPlaceAt } from "@harnesskit/wire/model";
import type { LanguageModel } from "ai";

/** A model and its provider, by their names. A model of the gateway is a string. */
const modelNames = (model: LanguageModel) =>
  typeof model === "string"
    ? { provider: model.split("/")[0] ?? "", model }
    : { provider: model.provider, model: model.modelId };

/** Where its provider takes the images and files of tools. */
export const mediaPlaceOf = (model: LanguageModel): MediaPlace | undefined =>
  mediaPlaceAt(modelNames(model).provider);
