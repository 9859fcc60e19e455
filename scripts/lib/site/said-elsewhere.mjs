import { Comment, ReflectionKind } from "typedoc";

const types = ReflectionKind.Interface | ReflectionKind.TypeAlias;
const link = (target) => ({ kind: "inline-tag", tag: "@link", text: target.name, target });
const words = (text) => ({ kind: "text", text });

/** Whether a type is or contains a named type. */
const names = (type, reflection) =>
  type?.reflection === reflection || (type?.types ?? []).some((part) => names(part, reflection));

/** The functions with a parameter of this type. */
const takersOf = (reflection, functions) =>
  functions.filter(({ signatures = [] }) =>
    signatures.some(({ parameters = [] }) => parameters.some(({ type }) => names(type, reflection))),
  );

const listOf = (functions) =>
  functions.flatMap((one, index) => [
    ...(index === 0 ? [] : [words(index === functions.length - 1 ? " and " : ", ")]),
    link(one),
  ]);

/**
 * Gives types what the reference says elsewhere: to a type that is inferred from a schema, what the schema is; to options, the functions
 * that take them; to limits, whose they are.
 */
export function describeTypes(project) {
  const functions = project.getReflectionsByKind(ReflectionKind.Function);
  const variables = new Map(
    project.getReflectionsByKind(ReflectionKind.Variable).map((variable) => [variable.name, variable]),
  );
  for (const reflection of project.getReflectionsByKind(types)) {
    if (reflection.hasComment()) continue;
    const schema = variables.get(`${reflection.name}Schema`);
    const takers = takersOf(reflection, functions);
    if (schema?.comment) reflection.comment = new Comment(Comment.cloneDisplayParts(schema.comment.summary));
    else if (schema) reflection.comment = new Comment([words("What "), link(schema), words(" accepts.")]);
    else if (/Options$/.test(reflection.name) && takers.length > 0)
      reflection.comment = new Comment([words("Options of "), ...listOf(takers), words(".")]);
    else if (/Limits$/.test(reflection.name))
      reflection.comment = new Comment([
        words("Limits, each with its default. The option `limits` overrides any of them."),
      ]);
  }
}
