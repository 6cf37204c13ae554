import { faultIn, items, members, type Piece, textOf } from '#lib/console/playground/answers/piece';

/** The text of a transcript. */
export function transcriptPieces(value: unknown): Piece[] {
  return [...faultIn(value), ...lines([textOf(members(value).text)])];
}

/** How alike each text is to the first one: the cosine of the angle between their vectors. */
export function embeddingsPieces(value: unknown): Piece[] {
  const vectors = items(members(value).data).map((one) => items(members(one).embedding).map(Number));
  const [first, ...others] = vectors;
  if (!first) return faultIn(value);
  const alike = others.map((other, at) => `Lines 1 and ${at + 2}: ${cosine(first, other).toFixed(4)}`);
  return lines([`Cosine similarity (${first.length.toLocaleString('en-US')} dimensions)`, ...alike]);
}

/** Documents by relevance. Their first line is the second of the prompt. */
export function rerankPieces(value: unknown): Piece[] {
  const ranked = items(members(value).results).map((one) => {
    const { index, relevance_score: score } = members(one);
    return `Line ${Number(index) + 2}: ${Number(score).toFixed(4)}`;
  });
  return [...faultIn(value), ...lines(ranked)];
}

/** Whether the text was flagged, and the categories with the highest scores. */
export function moderationsPieces(value: unknown): Piece[] {
  const [result] = items(members(value).results);
  if (result === undefined) return faultIn(value);
  const { flagged, category_scores: scores } = members(result);
  const highest = Object.entries(members(scores))
    .map(([name, score]) => [name, Number(score)] as const)
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, 5)
    .map(([name, score]) => `${name}: ${score.toFixed(4)}`);
  return lines([flagged === true ? 'Flagged' : 'Not flagged', ...highest]);
}

function lines(texts: readonly string[]): Piece[] {
  const text = texts.filter((one) => one !== '').join('\n');
  return text === '' ? [] : [{ kind: 'text', text }];
}

function cosine(one: readonly number[], other: readonly number[]): number {
  const dot = (a: readonly number[], b: readonly number[]) =>
    a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);
  const size = Math.sqrt(dot(one, one) * dot(other, other));
  return size === 0 ? 0 : dot(one, other) / size;
}
