import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test-kit/nightly.ts";
import { ahpMethods } from "../src/ahp/index.ts";
import * as hub from "../src/hub/index.ts";
import { documents } from "./documents.ts";
import { nearDocument } from "./support/near-documents.ts";
import { files, published } from "./support/published.ts";

const ajv = new Ajv2020({ strict: false, allErrors: false });
for (const file of Object.values(files)) ajv.addSchema(file);

const compiled = (ref: string): ValidateFunction => {
  const validate = ajv.getSchema(ref);
  if (!validate) throw new ReferenceError(ref);
  return validate;
};
const definition = (file: string, name: string) =>
  compiled(`https://harnesskit.dev/schema/${file}.json#/$defs/${name}`);

describe("the JSON Schema files", () => {
  it("cover every exported schema, method and notification", () => {
    expect(Object.keys(files)).toEqual([
      "envelope",
      "threads",
      "runtime",
      "ahp",
      "chat",
      "openharness",
      "hub",
      "agent-manifest",
    ]);
    for (const file of Object.values(files)) {
      expect(file.$schema).toBe("https://json-schema.org/draft/2020-12/schema");
      expect(JSON.stringify(file)).not.toContain("__schema");
    }
  });

  it("name every method and notification of the hub's interface, and compile", () => {
    expect(Object.keys(files.hub["x-methods"] ?? {}).sort()).toEqual(Object.keys(hub.hubMethods).sort());
    expect(Object.keys(files.hub["x-notifications"] ?? {}).sort()).toEqual(
      Object.keys(hub.hubNotifications).sort(),
    );
    const pending = {
      id: "apr_1",
      seq: 1,
      origin: { agent: "a", session: "s" },
      subject: { tool: "bash", input: { command: "ls" } },
      digest: `sha256:${"0".repeat(64)}`,
      risk: { level: "low", reasons: [] },
      rule: { id: "r", reason: "asks" },
      ...{ createdAtMs: 1, changedAtMs: 1, expiresAtMs: 2, status: "pending", effect: "none" },
    };
    expect(definition("hub", "ApprovalRecord")(pending)).toBe(true);
    for (const wrong of [
      { ...pending, digest: "sha256:0" },
      { ...pending, status: "maybe" },
      { ...pending, seq: 0 },
    ]) {
      expect(definition("hub", "ApprovalRecord")(wrong)).toBe(false);
      expect(hub.ApprovalRecordSchema.safeParse(wrong).success).toBe(false);
    }
  });

  it("list every event of the supervision protocol by its type, with what it is", () => {
    const at = (name: string, file = "ahp") => ({
      $ref: `https://harnesskit.dev/schema/${file}.json#/$defs/${name}`,
    });
    const gate = { blocking: true, specialised: false, batchable: true, contract: false };
    const own = { blocking: true, specialised: true, batchable: false, contract: false };
    const told = { blocking: false, specialised: false, batchable: true, contract: false };
    const free = { payload: at("JsonValue", "envelope"), decision: at("Decision") };
    const ownOf = (type: string) => ({
      ...own,
      payload: at(`${type}Payload`),
      decision: at(`${type}Decision`),
    });
    const contractOf = (name: string) => ({
      ...told,
      contract: true,
      payload: at(name),
      decision: at("Decision"),
    });
    expect(files.ahp["x-events"]).toEqual({
      pre_action: { ...gate, ...free },
      post_action: { ...told, ...free },
      pre_prompt: { ...gate, ...free },
      post_response: { ...told, ...free },
      session_start: { ...told, ...free },
      session_end: { ...told, ...free },
      error: { ...told, ...free },
      heartbeat: { ...told, payload: at("HeartbeatPayload"), decision: at("Decision") },
      success: { ...told, payload: at("SuccessPayload"), decision: at("Decision") },
      idle: ownOf("Idle"),
      intent_detection: ownOf("IntentDetection"),
      context_perception: ownOf("ContextPerception"),
      memory_recall: ownOf("MemoryRecall"),
      planning: ownOf("Planning"),
      reasoning: ownOf("Reasoning"),
      rate_limit: ownOf("RateLimit"),
      confirmation: ownOf("Confirmation"),
      run_lifecycle: contractOf("RunLifecycle"),
      task_list: contractOf("TaskList"),
      verification: contractOf("Verification"),
    });
    expect(Object.keys(files.ahp["x-methods"] ?? {})).toEqual(Object.keys(ahpMethods));
  });

  it("describe a manifest to an editor: without references, each field with words, and defaults", () => {
    const text = JSON.stringify(files["agent-manifest"]);
    expect(text).not.toContain('"$ref"');
    const { properties } = JSON.parse(text) as { properties: Record<string, { description?: string }> };
    expect(Object.entries(properties).filter(([, { description }]) => !description)).toEqual([]);
    expect(properties).toHaveProperty("restart.properties.initial_backoff_ms.default", 200);
    expect(properties).toHaveProperty("$schema.type", "string");
  });

  it.each([...published.values()])("of %s accept and refuse the same as zod", (name, schema, ref) => {
    const validate = compiled(ref);
    let accepted = 0;
    let refused = 0;
    const compare = (document: unknown) => {
      const byZod = schema.safeParse(document).success;
      const byAjv = validate(document);
      expect({ document, accepted: byAjv }).toEqual({ document, accepted: byZod });
      byZod ? accepted++ : refused++;
    };
    const near = documents[name];
    for (const document of near ?? []) compare(document);
    fc.assert(fc.property(nearDocument(near ?? []), compare), { numRuns: runs(60) });
    expect(accepted).toBeGreaterThan(0);
    if (!["JsonValueSchema", "ahp/event result"].includes(name)) expect(refused).toBeGreaterThan(0);
  });
});
