/**
 * A store that names the moment before and after each of its calls.
 *
 * @param {object} inner a `GraphStore`
 * @param {(label: string) => void} at
 */
export const namedStore = (inner, at) => {
  const call = async (name, run) => {
    at(`before ${name}`);
    try {
      return await run();
    } finally {
      at(`after ${name}`);
    }
  };
  const named = (part, methods) =>
    Object.fromEntries(
      methods.map((method) => [
        method,
        (argument) => call(`${part}.${method}`, () => inner[part][method](argument)),
      ]),
    );
  const lease = (held) => ({
    key: held.key,
    fence: held.fence,
    renew: () => call("leases.renew", () => held.renew()),
    release: () => call("leases.release", () => held.release()),
  });
  const methods = ["load", "save", "delete", "list"];
  return {
    sessions: named("sessions", methods),
    suspensions: named("suspensions", methods),
    runs: named("runs", ["load", "delete", "list"]),
    leases: {
      acquire: async (key, options) =>
        lease(await call("leases.acquire", () => inner.leases.acquire(key, options))),
    },
    commit: (batch) => call("commit", () => inner.commit(batch)),
    close: () => call("close", () => inner.close()),
  };
};
