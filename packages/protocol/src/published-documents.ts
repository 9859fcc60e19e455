import { ahp, chat, envelope, hub, openharness, runtime, threads } from "./documented.ts";
import { schemaDocument, schemaDocuments } from "./schema-documents.ts";

/** The messages of the runtime protocol with the forms that each has. */
const runtimeMessages = Object.fromEntries(
  Object.entries({ ...runtime.agentMessages, ...runtime.coreMessages }).map(([type, schema]) => [
    type,
    type === "core.welcome" ? [schema, runtime.CoreRefusalSchema] : [schema],
  ]),
);

/** Makes every JSON Schema document that is published, by its name. */
export const publishedDocuments = () => ({
  ...schemaDocuments({
    envelope: { title: "JSON values", module: envelope },
    threads: {
      title: "The thread protocol",
      module: threads,
      methods: threads.threadMethods,
      notifications: threads.threadNotifications,
    },
    runtime: {
      title: "The runtime protocol between a core and its agents",
      module: runtime,
      messages: runtimeMessages,
    },
    ahp: {
      title: "The Agent Harness Protocol between an agent and its harness",
      module: ahp,
      methods: ahp.ahpMethods,
      events: ahp.ahpEvents,
    },
    chat: { title: "Conversations: messages, turns, sessions and suspensions", module: chat },
    openharness: { title: "OpenHarness between a shell and its engine", module: openharness },
    hub: {
      title: "The hub's own interface for pages, terminals and bots",
      module: hub,
      methods: hub.hubMethods,
      notifications: hub.hubNotifications,
    },
  }),
  "agent-manifest": schemaDocument(
    "agent-manifest",
    `An agent's manifest, ${runtime.AGENT_MANIFEST_FILE}`,
    runtime.AgentManifestSchema,
  ),
});
