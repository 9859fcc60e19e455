import { type AhpEventType, ahpEvents, conventionalPayloads } from "@harnesskit/protocol/ahp";
import * as z from "zod";

/** The payload's schema of a type: its own, or what agents send by convention. */
const payloadSchema = (type: AhpEventType): z.ZodType =>
  type in conventionalPayloads
    ? conventionalPayloads[type as keyof typeof conventionalPayloads]
    : ahpEvents[type].payload;

const leaves = [z.ZodString, z.ZodNumber, z.ZodBoolean, z.ZodEnum];

/** Whether values of a schema can have something at a place. An open schema may have anything. */
const hasPlace = (schema: z.core.$ZodType, place: readonly string[]): boolean => {
  const [key, ...rest] = place;
  if (key === undefined) return true;
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return hasPlace(schema.unwrap(), place);
  if (schema instanceof z.ZodArray) return /^\d+$/.test(key) && hasPlace(schema.element, rest);
  if (schema instanceof z.ZodUnion) return schema.options.some((option) => hasPlace(option, place));
  if (schema instanceof z.ZodObject) {
    const inner = Object.hasOwn(schema.shape, key) ? schema.shape[key] : undefined;
    return inner !== undefined && hasPlace(inner, rest);
  }
  return !leaves.some((leaf) => schema instanceof leaf);
};

/** Places that a writer may have meant: the names that expressions use, or a field of the arguments. */
const meantBy = (place: readonly string[]): readonly (readonly string[])[] => {
  const [first, ...rest] = place;
  const inner = first === "payload" || first === "args" ? rest : place;
  return [inner, ["arguments", ...inner], ["prompt"]].filter(({ length }) => length > 0);
};

/** Why a change at a place of the payload has no effect: no event of these types has it. Undefined where one has. */
export const misplacedIn = (types: readonly AhpEventType[], place: readonly string[]): string | undefined => {
  const isThere = (where: readonly string[]) => types.some((type) => hasPlace(payloadSchema(type), where));
  if (isThere(place)) return undefined;
  const meant = meantBy(place).find(isThere);
  const advice = meant ? `; did you mean ${meant.join(".")}?` : "";
  const subject = types.length === 1 ? `${types[0]} has no` : `none of ${types.join(", ")} has`;
  return `${subject} ${place.join(".")}, so agents refuse the change${advice}`;
};
