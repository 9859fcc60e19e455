/** The object with some of its methods replaced; the others are its own. */
export const overriding = <T extends object>(target: T, overrides: Partial<T>): T =>
  new Proxy(target, {
    get(_target, name) {
      const source = name in overrides ? overrides : target;
      const value: unknown = Reflect.get(source, name, source);
      return typeof value === "function" ? value.bind(source) : value;
    },
  });
