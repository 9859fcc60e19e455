/** The start of a command that runs a project's own tests or checks, and nothing but that is known of it. */
const testCommand =
  /^(?:npm|pnpm|yarn|bun)\s+(?:run\s+)?(?:test|check|lint|typecheck)\b|^(?:npx\s+)?(?:vitest|jest|mocha|tsc)\b|^node\s+--test\b|^(?:python3?\s+-m\s+)?(?:pytest|unittest)\b|^cargo\s+(?:test|clippy|check)\b|^go\s+(?:test|vet)\b|^make\s+(?:test|check)\b|^(?:mvn|gradle|\.\/gradlew)\s+(?:test|check|verify)\b|^dotnet\s+test\b|^(?:bundle\s+exec\s+)?rspec\b|^mix\s+test\b/;

/** Whether a command verifies the work. It decides only how the command is reported. */
export const isTestCommand = (command: unknown): command is string =>
  typeof command === "string" && testCommand.test(command.trimStart());
