import { type Document, isAlias, isMap, isPair, isScalar, isSeq, type Node, type Pair } from "yaml";
import type { PolicyErrorCode, PolicyProblem } from "../policy-error.ts";
import type { ResolvedPolicyLimits } from "../policy-limits.ts";
import type { YamlPlaces } from "./yaml-places.ts";

/** Keys that are no names of anything in a policy, and dangerous in what reads one. */
const prototypeKeys: ReadonlySet<string> = new Set(["__proto__", "prototype", "constructor"]);

interface Shape {
  readonly code: PolicyErrorCode;
  readonly problems: readonly PolicyProblem[];
}

interface Step {
  readonly node: unknown;
  readonly depth: number;
}

/**
 * What a policy's YAML must not have: too many nodes or levels, keys twice, keys that are no text or belong to
 * prototypes, tags, aliases of what is not there. In time linear to the nodes, aliases followed.
 */
export const shapeProblems = (
  document: Document,
  places: YamlPlaces,
  limits: ResolvedPolicyLimits,
): Shape | undefined => {
  const problems: PolicyProblem[] = [];
  const refuse = (node: unknown, message: string): void => {
    if (problems.length < 50) problems.push({ message, path: "", ...places.placeOfNode(node) });
  };
  const checkKey = (pair: Pair, seen: Set<string>): void => {
    const key = pair.key;
    if (!isScalar(key) || typeof key.value !== "string") {
      refuse(key ?? pair.value, "a key is a text; put others in quotes");
      return;
    }
    if (prototypeKeys.has(key.value)) refuse(key, `${key.value} is no key of a policy`);
    if (seen.has(key.value))
      refuse(key, `the key ${JSON.stringify(key.value.slice(0, 100))} stands here twice`);
    seen.add(key.value);
  };
  const stack: Step[] = [{ node: document.contents, depth: 0 }];
  let nodes = 0;
  for (let step = stack.pop(); step; step = stack.pop()) {
    const { depth } = step;
    let { node } = step;
    const large = ++nodes > limits.maxFileNodes ? `more than ${limits.maxFileNodes} values` : undefined;
    const deep = depth > limits.maxFileDepth ? `nested deeper than ${limits.maxFileDepth} levels` : undefined;
    if (large ?? deep) {
      const place = places.placeOfNode(node);
      return {
        code: "policy_too_large",
        problems: [{ message: (large ?? deep) as string, path: "", ...place }],
      };
    }
    if (isAlias(node)) {
      const target: Node | undefined = node.resolve(document);
      if (!target) refuse(node, `no anchor ${JSON.stringify(node.source.slice(0, 100))} before this alias`);
      node = target;
    }
    if (
      (isMap(node) || isSeq(node) || isScalar(node)) &&
      node.tag &&
      !node.tag.startsWith("tag:yaml.org,2002:")
    ) {
      refuse(node, "a policy has no tags");
    }
    if (isMap(node)) {
      const seen = new Set<string>();
      for (const pair of node.items) {
        checkKey(pair, seen);
        stack.push({ node: pair.value, depth: depth + 1 });
      }
    } else if (isSeq(node)) {
      for (const item of node.items) stack.push({ node: isPair(item) ? item.value : item, depth: depth + 1 });
    }
  }
  return problems.length > 0 ? { code: "policy_syntax", problems } : undefined;
};
