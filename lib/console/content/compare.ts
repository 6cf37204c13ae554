import { diffLines } from 'diff';
import type { ContentRows } from '#lib/console/content/rows';

/** A run of lines of one kind. */
export interface ComparedRun {
  /** Its place. */
  readonly id: number;
  readonly kind: 'same' | 'removed' | 'added' | 'skipped';
  /** Of `skipped`: how many lines are left out, and no lines. */
  readonly count: number;
  readonly lines: readonly string[];
}

/** The request or the answer of two calls. */
export interface ComparedPart {
  readonly title: 'Request' | 'Answer';
  /** null: they differ in too much to compare them. */
  readonly runs: readonly ComparedRun[] | null;
  readonly equal: boolean;
}

/** The longest comparison, ms: it must not delay calls of this process. */
const longestMs = 500;
/** Lines that are shown around a difference. */
const around = 3;

/** Compares two calls line by line: requests as JSON, answers as people read them. Pure. */
export function comparedParts(one: ContentRows, other: ContentRows): readonly ComparedPart[] {
  return [
    partOf('Request', one.request.text, other.request.text),
    partOf('Answer', answerText(one), answerText(other)),
  ];
}

/** What was said, if the answer is a conversation's, otherwise its body. */
function answerText({ turns, answer }: ContentRows): string {
  const last = turns.at(-1);
  if (last?.who !== 'Assistant') return answer.text;
  return last.parts.map(({ name, text }) => (name === null ? text : `${name}\n${text}`)).join('\n\n');
}

function partOf(title: ComparedPart['title'], one: string, other: string): ComparedPart {
  if (one === other)
    return { title, runs: runsOf([{ value: one, added: false, removed: false }]), equal: true };
  const changes = diffLines(ended(one), ended(other), { timeout: longestMs });
  return { title, runs: changes ? runsOf(changes) : null, equal: false };
}

/** A last line without a line break would differ from the same line with one. */
function ended(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`;
}

type Change = { readonly value: string; readonly added: boolean; readonly removed: boolean };

function runsOf(changes: readonly Change[]): ComparedRun[] {
  const runs = changes.flatMap(({ value, added, removed }, at): Omit<ComparedRun, 'id'>[] => {
    const lines = value.replace(/\n$/, '').split('\n');
    if (added || removed) return [{ kind: added ? 'added' : 'removed', count: lines.length, lines }];
    const same = (shown: readonly string[]) =>
      shown.length > 0 ? [{ kind: 'same' as const, count: shown.length, lines: shown }] : [];
    const before = at === 0 ? 0 : around;
    const after = at === changes.length - 1 ? 0 : around;
    if (changes.length === 1 || lines.length <= before + after + 1) return same(lines);
    const count = lines.length - before - after;
    return [
      ...same(lines.slice(0, before)),
      { kind: 'skipped', count, lines: [] },
      ...same(after === 0 ? [] : lines.slice(-after)),
    ];
  });
  return runs.map((run, id) => ({ ...run, id }));
}
