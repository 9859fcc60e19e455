import type { createModel } from "@harnesskit/models";

type Model = Awaited<ReturnType<typeof createModel>>;

/** A model that can become another one between two turns. */
export class SwitchedModel implements Model {
  current: Model;

  constructor(first: Model) {
    this.current = first;
  }

  get specificationVersion(): Model["specificationVersion"] {
    return this.current.specificationVersion;
  }

  get provider(): string {
    return this.current.provider;
  }

  get modelId(): string {
    return this.current.modelId;
  }

  get supportedUrls(): Model["supportedUrls"] {
    return this.current.supportedUrls;
  }

  doGenerate(options: Parameters<Model["doGenerate"]>[0]): ReturnType<Model["doGenerate"]> {
    return this.current.doGenerate(options);
  }

  doStream(options: Parameters<Model["doStream"]>[0]): ReturnType<Model["doStream"]> {
    return this.current.doStream(options);
  }
}
