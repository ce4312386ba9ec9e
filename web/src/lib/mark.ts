/** Which parts of a text match a query. Content is cut into pieces of text and never becomes markup. */

export type Piece = { text: string; hit: boolean };

const WORD = /[\p{L}\p{N}_]+/gu;
const COMMON = new Set(
  "a an and are as at be by do does for from has have how i in is it me my of on or our that the this to was we what when where which who why will with you your".split(
    " ",
  ),
);

function fold(text: string): string {
  return text.normalize("NFD").replace(/\p{M}+/gu, "").toLowerCase();
}

/** The beginning that forms of a word share, roughly: `prefers` and `preferred` both begin with `prefer`. */
function stem(word: string): string {
  const folded = fold(word);
  return folded.length > 4 ? folded.replace(/(ing|edly|ed|ies|es|s|ly)$/, "").slice(0, 12) : folded;
}

export function terms(query: string): string[] {
  const all = query.match(WORD) ?? [];
  const telling = all.filter((word) => !COMMON.has(fold(word)));
  return (telling.length ? telling : all).map(stem).filter((word) => word.length > 1);
}

export function marked(text: string, wanted: string[]): Piece[] {
  if (!wanted.length) return [{ text, hit: false }];
  const pieces: Piece[] = [];
  let end = 0;
  for (const match of text.matchAll(WORD)) {
    const word = fold(match[0]);
    const hit = wanted.some((term) => (term.length > 3 ? word.startsWith(term) : stem(word) === term));
    if (!hit) continue;
    if (match.index > end) pieces.push({ text: text.slice(end, match.index), hit: false });
    pieces.push({ text: match[0], hit: true });
    end = match.index + match[0].length;
  }
  if (end < text.length) pieces.push({ text: text.slice(end), hit: false });
  return pieces;
}
