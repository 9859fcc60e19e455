import * as z from "zod";

/**
 * @internal The fields of an object, made when zod first reads them: with the first message, not when a program imports the schema.
 * As with getters in a shape, zod reads them once. Until then any name may be a field: zod asks for the discriminator of a union when
 * it makes the union, and again with the first message.
 */
export const fields = <Shape extends object>(build: () => Shape): Shape => {
  let built: Shape | undefined;
  const shape = (): Shape => {
    built ??= build();
    return built;
  };
  return new Proxy({} as Shape, {
    get: (_, name) => Reflect.get(shape(), name),
    has: (_, name) => Reflect.has(shape(), name),
    ownKeys: () => Reflect.ownKeys(shape()),
    getOwnPropertyDescriptor: (_, name) =>
      built === undefined
        ? { get: () => Reflect.get(shape(), name), enumerable: true, configurable: true }
        : Reflect.getOwnPropertyDescriptor(built, name),
  });
};

/** @internal As `z.object`, with {@link fields}. */
export const object = <Shape extends z.core.$ZodLooseShape>(build: () => Shape) => z.object(fields(build));
