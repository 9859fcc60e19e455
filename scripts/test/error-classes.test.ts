import { expect, it } from "vitest";
import { HarnessError } from "../../packages/wire/src/index.ts";
import { entries } from "./entries.ts";

type ErrorClass = typeof HarnessError;

const errorClasses = async (): Promise<Set<ErrorClass>> => {
  const found = new Set<ErrorClass>();
  for (const entry of entries()) {
    for (const value of Object.values(await import(entry))) {
      if (
        typeof value === "function" &&
        (value === HarnessError || value.prototype instanceof HarnessError)
      ) {
        found.add(value as ErrorClass);
      }
    }
  }
  return found;
};

/** An error of a class whose constructor is not called. */
const errorOf = (type: ErrorClass): unknown =>
  Object.assign(Object.create(type.prototype), { [Symbol.for("harnesskit.error")]: true });

it("every exported error class recognises its own errors, those of its subclasses and no others", async () => {
  const classes = [...(await errorClasses())];
  for (const type of classes) {
    const recognised = classes.filter((other) => type.isInstance(errorOf(other)));
    const derived = classes.filter((other) => other === type || other.prototype instanceof type);
    expect(
      recognised.map(({ name }) => name),
      type.name,
    ).toEqual(derived.map(({ name }) => name));
  }
});

it("every exported error class has its own brand, which is its name", async () => {
  const classes = [...(await errorClasses())];
  expect(classes.map((type) => Object.hasOwn(type, "brand") && type.brand)).toEqual(
    classes.map(({ name }) => name),
  );
  expect(new Set(classes.map(({ brand }) => brand)).size).toBe(classes.length);
});
