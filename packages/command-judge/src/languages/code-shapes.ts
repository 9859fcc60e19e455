import type { Row } from "../programs/spec.ts";

/** What is visibly bad in code of any language. Code that has none of these is not harmless for that. */
export const codeShapes: readonly Row[] = [
  [
    /\brmtree\b|\brm(?:dir)?(?:Sync)?\s*\([^)]*recursive|\bremovedirs\b|\bremove_tree\b|\brm_rf?\b|\bFileUtils\.rm|\brimraf\b|\bdeltree\b|\bemptyDir|\bunlink(?:Sync)?\b|\bos\.remove\b|\brm(?:dir)?Sync\b|\bFile\.delete\b|\btruncate(?:Sync)?\b/,
    "destructive code-deletes deletes files",
  ],
  [/\bkillpg\b|\bkill\s*\(\s*-1/, "destructive kills-all ends every process"],
  [/\bset(?:res|re|e)?[ug]id\s*\(/, "privilege setuid changes whose rights it has"],
  [
    /\bsocket\b|\burllib|\brequests\.|\bhttp\.client|\bhttpx?\.(?:get|post|request|put)|\bhttps?\.(?:get|request)|\bfetch\s*\(|\bXMLHttpRequest|\bnet\.(?:connect|Socket|createConnection)|\bsmtplib|\bftplib|\bIO::Socket|\bLWP::|\bNet::HTTP|\bTCPSocket|\bopen-uri|\bfsockopen|\bcurl_(?:init|exec)|\bdns\.(?:resolve|lookup)|\bgethostbyname|\/dev\/tcp/,
    "exfiltration code-network opens connections to other machines",
  ],
];
