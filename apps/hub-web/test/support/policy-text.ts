/** Reads pass, what removes is blocked, everything else is asked about. */
export const policyText = `
version: 1
name: small
defaults:
  gate: { decision: escalate, reason: no rule knows this tool }
  pre_prompt: allow
rules:
  - name: reads
    when: { tool: read }
    then: allow
  - name: removes
    when: { tool: bash, cel: 'args.command.startsWith("rm")' }
    then: { decision: block, reason: it removes files }
  - name: commands
    when: { tool: bash }
    then: { decision: escalate, reason: it runs a command }
`;
