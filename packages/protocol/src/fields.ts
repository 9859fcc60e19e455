import * as z from "zod";

/** The discriminator of the union that is being made. */
let asked: string | undefined;

/**
 * @internal The fields of an object, made when zod first reads them: with the first message, not when a program imports the schema.
 * As with getters in a shape, zod reads them once.
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
      name === asked
        ? { value: undefined, enumerable: true, configurable: true }
        : Reflect.getOwnPropertyDescriptor(shape(), name),
  });
};

/** @internal As `z.object`, with {@link fields}. */
export const object = <Shape extends z.core.$ZodLooseShape>(build: () => Shape) => z.object(fields(build));

/**
 * @internal As `z.discriminatedUnion`, of objects with {@link fields}, which are not made for it: whether each has the discriminator is seen
 * with the first message.
 */
export const discriminatedUnion: typeof z.discriminatedUnion = (discriminator, options, params) => {
  asked = discriminator;
  try {
    return z.discriminatedUnion(discriminator, options, params);
  } finally {
    asked = undefined;
  }
};
