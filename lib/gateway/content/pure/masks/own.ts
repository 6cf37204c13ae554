import { RE2JS } from 're2js';
import type { Finder, Found } from '#lib/gateway/content/pure/masks/found';

/** Bounds of a workspace's own patterns (contract: content/masks). */
export const mostPatterns = 10;
const longestPattern = 200;
/** Instructions of a compiled pattern: its time for a text grows with both. */
const largestProgram = 500;

/** One of a workspace's own patterns. */
export interface OwnPattern {
  /** What the mark in place of its text says: "staff number". */
  readonly name: string;
  /** In the syntax of RE2. */
  readonly pattern: string;
}

/** Own patterns that cannot be used, and what to do. */
export class PatternFault extends Error {}

const line = /^([A-Za-z0-9][A-Za-z0-9 _-]{0,31}):\s*(\S.*)$/;

/**
 * Reads "name: pattern" lines, and tries each pattern.
 * @throws PatternFault for the first line that cannot be used.
 */
export function readPatterns(text: string): readonly OwnPattern[] {
  const lines = text.split('\n').flatMap((one) => one.trim() || []);
  if (lines.length > mostPatterns)
    throw new PatternFault(`at most ${mostPatterns} patterns are allowed; remove some`);
  return lines.map((one, place) => {
    const at = `line ${place + 1}`;
    const [, name = '', pattern = ''] = line.exec(one) ?? [];
    if (name === '') {
      throw new PatternFault(
        `${at} must be "name: pattern", with a name of at most 32 letters, digits, spaces, "_" and "-"`,
      );
    }
    if (pattern.length > longestPattern)
      throw new PatternFault(`${at}: a pattern may have at most ${longestPattern} characters; shorten it`);
    const compiled = compile(pattern, at);
    if (compiled.programSize() > largestProgram)
      throw new PatternFault(`${at}: the pattern is too large; use smaller or fewer repetitions`);
    if (compiled.matcher('').find())
      throw new PatternFault(`${at}: the pattern matches empty text; require at least one character`);
    return { name: name.trim(), pattern };
  });
}

function compile(pattern: string, at: string): RE2JS {
  try {
    return RE2JS.compile(pattern);
  } catch {
    throw new PatternFault(
      `${at}: the pattern cannot be read; write it in the syntax of RE2, which has no look-around and no back references`,
    );
  }
}

/** How an own pattern finds what it masks: in time that grows with the text, whatever the pattern is. */
export function ownFinder({ name, pattern }: OwnPattern): Finder {
  const compiled = compile(pattern, name);
  return (text) => {
    const found: Found[] = [];
    const matcher = compiled.matcher(text);
    while (matcher.find()) {
      if (matcher.end() > matcher.start()) found.push({ from: matcher.start(), to: matcher.end(), name });
    }
    return found;
  };
}
