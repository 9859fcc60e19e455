import { schemaDocument, schemaDocuments } from "./schema-documents.mjs";

/** The messages of the runtime protocol with the forms that each has. */
const runtimeMessages = ({ agentMessages, coreMessages, CoreRefusalSchema }) =>
  Object.fromEntries(
    Object.entries({ ...agentMessages, ...coreMessages }).map(([type, schema]) => [
      type,
      type === "core.welcome" ? [schema, CoreRefusalSchema] : [schema],
    ]),
  );

/** Makes every JSON Schema document that is published, by its name, from the protocols' entries. */
export const publishedDocuments = ({ envelope, threads, runtime, ahp, chat, openharness, hub }) => ({
  ...schemaDocuments({
    envelope: { title: "JSON-RPC 2.0 messages", module: envelope },
    threads: {
      title: "The thread protocol",
      module: threads,
      methods: threads.threadMethods,
      notifications: threads.threadNotifications,
    },
    runtime: {
      title: "The runtime protocol between a core and its agents",
      module: runtime,
      messages: runtimeMessages(runtime),
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
  "agent-manifest": schemaDocument("agent-manifest", {
    title: `An agent's manifest, ${runtime.AGENT_MANIFEST_FILE}`,
    schema: runtime.AgentManifestSchema,
  }),
});
