/** The threads of a place: files, or a schema of a PostgreSQL server whose leases are short. */
export const openTurnThreads = async ({ engine, directory, url, schema }) => {
  if (engine === "postgres") {
    const { openPostgresStore } = await import("../../../packages/store-postgres/dist/index.js");
    const limits = { threadLeaseMs: 1500, wakePollMs: 200, maxConnections: 4 };
    const store = await openPostgresStore({ url, schema, limits });
    return { threads: store.threads, close: () => store.close() };
  }
  const { createFileThreadStore } = await import("../../../packages/thread-server/dist/node.js");
  const threads = createFileThreadStore({ root: directory });
  return { threads, close: () => threads.close() };
};

/** The events of the one thread; none where it is not there yet. */
export const turnEvents = async (threads) => {
  const events = [];
  for (const { threadId } of await threads.list()) {
    for await (const event of threads.events(threadId)) events.push(event);
  }
  return events;
};
