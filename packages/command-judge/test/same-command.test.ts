import { describe, expect, it } from "vitest";
import { isSameCommand } from "../src/index.ts";

describe("two commands", () => {
  it.each([
    ["npm test", "  npm   test\n"],
    ["git commit -m 'a b'", 'git commit -m "a b"'],
    ["git commit -m a\\ b", "'git' commit -m $'a b'"],
    ["npm test", "/bin/bash -lc 'npm test'"],
    ["npm test", 'sh -l -c "npm test"'],
    ["npm test", "bash -c \"zsh -lc 'npm test'\""],
    ["a && b | c > d", "bash --login -c 'a && b|c >d'"],
    ['echo "$HOME/x"', 'echo   "$HOME/x"'],
    ["a; b", "a\nb"],
    ["npm test", "npm test # all of them"],
  ])("are the same: %s, %s", (one, other) => {
    expect(isSameCommand(one, other)).toBe(true);
    expect(isSameCommand(other, one)).toBe(true);
  });

  it.each([
    ["npm test", "npm publish"],
    ["npm test", "npm test; rm -rf /"],
    ["npm test", "npm test &"],
    ["npm test", "npm test > /etc/passwd"],
    ["npm test", "A=1 npm test"],
    ["npm test", "bash -c 'npm publish'"],
    ["npm test", "bash -c 'npm test' evil; npm publish"],
    ["echo $HOME", "echo '$HOME'"],
    ["echo a b", "echo 'a b'"],
    ["echo *", "echo '*'"],
    ["bash -c $X", "$X"],
    ["echo 'a", 'echo "a'],
    ["cat <<E\na\nE", "cat <<E\nb\nE"],
  ])("are not the same: %s, %s", (one, other) => {
    expect(isSameCommand(one, other)).toBe(false);
    expect(isSameCommand(other, one)).toBe(false);
  });
});
