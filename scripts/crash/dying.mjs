/**
 * Kills this process at a step: before (`isBefore`) or after the `after`th step of an operation, or of any where `operation` is absent.
 * Returns `step(operation, label, isBefore)`, which does nothing where `armed` is null; `report` gets the step just before.
 *
 * @param {{ operation?: string, after: number, isBefore: boolean } | null} armed
 */
export const deathAt = (armed, report = () => {}) => {
  let left = armed?.after;
  return (operation, label, isBefore) => {
    if (armed?.isBefore !== isBefore || (armed.operation ?? operation) !== operation || --left !== 0) return;
    report(`${operation} ${isBefore ? "before" : "after"} ${label}`);
    process.kill(process.pid, "SIGKILL");
  };
};

/**
 * An object of stores whose steps are watched: `step(label, isBefore)` is called before each method, and when its promise has resolved.
 * What is taken of it is watched, too: its parts, and its leases.
 */
export const watched = (object, step, prefix = "") =>
  new Proxy(object, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (typeof value === "object" && value !== null) return watched(value, step, `${String(name)}.`);
      if (typeof value !== "function") return value;
      return (...args) => {
        const label = `${prefix}${String(name)}`;
        step(label, true);
        const result = value.apply(target, args);
        if (!(result instanceof Promise)) return result;
        return result.then((settled) => {
          step(label, false);
          const isLease = label === "leases.acquire" || label === "lease";
          return isLease ? watched(settled, step, "lease.") : settled;
        });
      };
    },
  });
