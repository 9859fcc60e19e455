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
