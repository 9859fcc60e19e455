import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse, parseDocument } from "yaml";
import { repositoryRoot } from "./root.mjs";
import { filesBelow } from "./workspace.mjs";

/** `CHOICE` is our own: its `adr` is the number of the decision record with the reason. */
const levels = ["MUST", "SHOULD", "MAY", "FACT", "CHOICE"];
const idPattern = /^[A-Z][A-Z0-9]*-[A-Za-z0-9.]+$/;
const keys = ["id", "section", "level", "adr", "text", "untestable", "unobservable"];

const isText = (value) => typeof value === "string" && value.trim() !== "";
const isMapping = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

const records = readdirSync(join(repositoryRoot, "docs/adr")).map((name) => name.slice(0, 4));

function recordProblem({ level, adr }) {
  if (level !== "CHOICE") return adr === undefined ? undefined : "has an adr, which is for the level CHOICE";
  if (!isText(adr)) return 'is a CHOICE and names no adr, such as "0004"';
  return records.includes(adr) ? undefined : `names an adr that is not in docs/adr: ${adr}`;
}

function problemsOf(entry) {
  if (!isMapping(entry)) return ["is not a mapping"];
  const problems = Object.keys(entry)
    .filter((key) => !keys.includes(key))
    .map((key) => `has an unknown key: ${key}`);
  if (!isText(entry.id) || !idPattern.test(entry.id)) problems.push("has no id such as THR-12");
  if (!isText(entry.section)) problems.push("has no section");
  if (!levels.includes(entry.level)) problems.push(`has no level of ${levels.join(", ")}`);
  const record = recordProblem(entry);
  if (record !== undefined) problems.push(record);
  if (!isText(entry.text)) problems.push("has no sentence");
  if ("untestable" in entry && !isText(entry.untestable)) problems.push("does not say why it is untestable");
  if ("unobservable" in entry && !isText(entry.unobservable))
    problems.push("does not say why it is unobservable");
  return problems;
}

/**
 * Reads every requirement file of a folder. Returns `{ requirements, findings }`: the well-formed entries by id
 * (with their `file`), and what is wrong with the others.
 */
export function readRequirements(dir) {
  const requirements = new Map();
  const findings = [];
  const files = readdirSync(dir)
    .filter((name) => /\.ya?ml$/.test(name))
    .sort();
  for (const file of files) {
    const document = parseDocument(readFileSync(join(dir, file), "utf8"), { uniqueKeys: true });
    for (const error of document.errors) findings.push(`${file}: ${error.message.split("\n")[0]}`);
    if (document.errors.length > 0) continue;
    const content = document.toJS();
    if (!isMapping(content) || !isText(content.protocol) || !isText(content.spec)) {
      findings.push(`${file}: needs \`protocol\` and \`spec\` at its top`);
    }
    if (!Array.isArray(content?.requirements) || content.requirements.length === 0) {
      findings.push(`${file}: needs a list \`requirements\` with at least one entry`);
      continue;
    }
    for (const [index, entry] of content.requirements.entries()) {
      const place = `${file}: ${isText(entry?.id) ? entry.id : `entry ${index + 1}`}`;
      const problems = problemsOf(entry);
      findings.push(...problems.map((problem) => `${place} ${problem}`));
      if (!isText(entry?.id)) continue;
      const known = requirements.get(entry.id);
      if (known !== undefined) findings.push(`${place} is already in ${known.file}`);
      else requirements.set(entry.id, { ...entry, file });
    }
  }
  if (files.length === 0) findings.push(`${dir}: holds no requirement file`);
  return { requirements, findings };
}

/** The ids that `checks` (and `noise`) cite anywhere in a parsed scenario or suite file. */
function citedIn(value) {
  if (Array.isArray(value)) return value.flatMap(citedIn);
  if (!isMapping(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    if (key === "noise") return Object.values(inner).flatMap((ids) => ids.split(" "));
    if (key !== "checks" || Array.isArray(inner)) return citedIn(inner);
    return (isText(inner) ? [inner] : Object.keys(inner)).flatMap((ids) => ids.split(" "));
  });
}

/**
 * Compares the requirements with the checks of the conformance scenarios (`scenarios/PROTOCOL/**.yaml`): each id of a
 * protocol that has scenarios is cited by one or says why it is unobservable; returns the findings.
 */
export function judgeChecks(requirements, scenarios) {
  const findings = [];
  for (const protocol of existsSync(scenarios) ? readdirSync(scenarios) : []) {
    const files = filesBelow(join(scenarios, protocol), [".yaml"]);
    const cited = new Set(
      files.flatMap((file) => citedIn(parse(readFileSync(file, "utf8"), { merge: true }))),
    );
    for (const id of cited) {
      if (!requirements.has(id))
        findings.push(`scenarios/${protocol}: a check cites ${id}, which is no requirement`);
    }
    for (const { id, file, untestable, unobservable } of requirements.values()) {
      if (file !== `${protocol}.yaml`) continue;
      const isExplained = untestable !== undefined || unobservable !== undefined;
      if (!cited.has(id) && !isExplained)
        findings.push(
          `${file}: ${id} is cited by no check of scenarios/${protocol} and does not say why it is unobservable`,
        );
      if (cited.has(id) && isExplained)
        findings.push(`${file}: ${id} is called unobservable, but a check cites it`);
    }
  }
  return findings;
}

/** Compares the requirements with the claims of a test run (`.cache/claims.json`); returns the findings. */
export function judgeClaims(requirements, claims) {
  const findings = [];
  for (const { id, file, untestable } of requirements.values()) {
    const tests = claims[id] ?? [];
    if (tests.some((test) => test.state === "passed")) {
      if (untestable !== undefined)
        findings.push(`${file}: ${id} is called untestable, but a test passes it`);
      continue;
    }
    const claimed = tests.map((test) => `${test.file} › ${test.name} (${test.state})`).join("; ");
    if (claimed !== "") findings.push(`${file}: ${id} is claimed by no passing test: ${claimed}`);
    else if (untestable === undefined) findings.push(`${file}: ${id} is claimed by no test`);
  }
  for (const [id, tests] of Object.entries(claims)) {
    if (requirements.has(id)) continue;
    const where = tests.map((test) => `${test.file} › ${test.name}`).join("; ");
    findings.push(`${id} is in no requirement file, but is claimed by ${where}`);
  }
  return findings;
}
