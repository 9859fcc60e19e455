import type { CommandVerdict } from "../judgement.ts";

interface Shape {
  readonly pattern: RegExp;
  readonly verdict: CommandVerdict;
  readonly code: string;
  readonly text: string;
}

/** What is visibly bad in code of any language. Code that has none of these is not harmless for that. */
export const codeShapes: readonly Shape[] = [
  {
    pattern:
      /\brmtree\b|\brm(?:dir)?(?:Sync)?\s*\([^)]*recursive|\bremovedirs\b|\bremove_tree\b|\brm_rf?\b|\bFileUtils\.rm|\brimraf\b|\bdeltree\b|\bemptyDir|\bunlink(?:Sync)?\b|\bos\.remove\b|\brm(?:dir)?Sync\b|\bFile\.delete\b|\btruncate(?:Sync)?\b/,
    verdict: "destructive",
    code: "code-deletes",
    text: "deletes files",
  },
  {
    pattern: /\bkillpg\b|\bkill\s*\(\s*-1/,
    verdict: "destructive",
    code: "kills-all",
    text: "ends every process",
  },
  {
    pattern: /\bset(?:res|re|e)?[ug]id\s*\(/,
    verdict: "privilege",
    code: "setuid",
    text: "changes whose rights it has",
  },
  {
    pattern:
      /\bsocket\b|\burllib|\brequests\.|\bhttp\.client|\bhttpx?\.(?:get|post|request|put)|\bhttps?\.(?:get|request)|\bfetch\s*\(|\bXMLHttpRequest|\bnet\.(?:connect|Socket|createConnection)|\bsmtplib|\bftplib|\bIO::Socket|\bLWP::|\bNet::HTTP|\bTCPSocket|\bopen-uri|\bfsockopen|\bcurl_(?:init|exec)|\bdns\.(?:resolve|lookup)|\bgethostbyname|\/dev\/tcp/,
    verdict: "exfiltration",
    code: "code-network",
    text: "opens connections to other machines",
  },
];
