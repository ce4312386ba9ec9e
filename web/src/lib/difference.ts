/** What changed between two texts, word by word. */

export type Part = { kind: "same" | "removed" | "added"; text: string };

const LONGEST = 1200; // words; beyond that the texts are shown one after the other

const LEAST_COMMON = 0.55; // of the words and spaces of the shorter one

const apart = (before: string, after: string): Part[] =>
  [
    { kind: "removed" as const, text: before },
    { kind: "same" as const, text: before && after ? "\n" : "" },
    { kind: "added" as const, text: after },
  ].filter((part) => part.text);

export function difference(before: string, after: string): Part[] {
  const a = before.split(/(\s+)/);
  const b = after.split(/(\s+)/);
  if (a.length > LONGEST || b.length > LONGEST) {
    return apart(before, after);
  }
  const common = longestCommon(a, b);
  // Two texts that share a few small words are not one text that changed.
  if (common(0, 0) < LEAST_COMMON * Math.min(a.length, b.length)) return apart(before, after);
  const parts: Part[] = [];
  const push = (kind: Part["kind"], text: string) => {
    const last = parts.at(-1);
    if (last?.kind === kind) last.text += text;
    else if (text) parts.push({ kind, text });
  };
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      push("same", a[i]!);
      i++;
      j++;
    } else if (i < a.length && (j === b.length || common(i + 1, j) >= common(i, j + 1))) push("removed", a[i++]!);
    else push("added", b[j++]!);
  }
  return parts;
}

/** A table of how much two endings have in common. */
function longestCommon(a: string[], b: string[]): (i: number, j: number) => number {
  const width = b.length + 1;
  const table = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      table[i * width + j] =
        a[i] === b[j]
          ? table[(i + 1) * width + j + 1]! + 1
          : Math.max(table[(i + 1) * width + j]!, table[i * width + j + 1]!);
    }
  }
  return (i, j) => table[i * width + j]!;
}
