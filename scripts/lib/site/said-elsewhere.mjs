import { Comment, ReflectionKind } from "typedoc";

/** Gives types that are inferred from a schema what the reference says of the schema. */
export function describeTypes(project) {
  const variables = new Map(
    project.getReflectionsByKind(ReflectionKind.Variable).map((variable) => [variable.name, variable]),
  );
  for (const type of project.getReflectionsByKind(ReflectionKind.Interface | ReflectionKind.TypeAlias)) {
    const schema = variables.get(`${type.name}Schema`);
    if (!type.hasComment() && schema?.comment)
      type.comment = new Comment(Comment.cloneDisplayParts(schema.comment.summary));
  }
}
