const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const COMMA = 0x2c;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const DATA = Buffer.from('data:');

/** Members of an event that are for people: it is not removed for its usage (contract: body/include-usage). */
const forPeople = [
  'citations',
  'search_results',
  'images',
  'videos',
  'related_questions',
  'moderation',
  'prompt_filter_results',
];

/** pass: it stays as it is. remove: it only reports usage. strip: it stays without its usage. */
export type Verdict = 'pass' | 'remove' | 'strip';

/** What becomes of one event, given from its first byte to before its blank line (contract: body/include-usage). */
export function judge(event: Uint8Array): Verdict {
  const chunk = objectIn(parse(Buffer.from(dataOf(event).bytes).toString('utf8')));
  if (chunk === null) return 'pass';
  const choices = chunk.choices ?? [];
  if (!Array.isArray(choices) || choices.length > 0 || (chunk.error ?? null) !== null) return 'pass';
  const own = (chunk.usage ?? null) !== null;
  if (!own && (objectIn(chunk.x_groq)?.usage ?? null) === null) return 'pass';
  if (!forPeople.some((name) => says(chunk[name]))) return 'remove';
  return own ? 'strip' : 'pass';
}

/** The event without its member `usage`; every other byte stays. */
export function withoutUsage(event: Uint8Array): Uint8Array {
  const { bytes, places } = dataOf(event);
  const gone = new Set<number>();
  for (const [from, to] of rangesOf('usage', membersOf(bytes))) {
    for (let at = from; at < to; at++) gone.add(places[at] ?? -1);
  }
  return event.filter((_c, at) => !gone.has(at));
}

/** The value of an event's data lines, and the place of each of its bytes in the event; -1: between two lines. */
function dataOf(event: Uint8Array): {
  readonly bytes: readonly number[];
  readonly places: readonly number[];
} {
  const bytes: number[] = [];
  const places: number[] = [];
  let lines = 0;
  let start = 0;
  for (let at = 0; at <= event.length; at++) {
    const c = event[at];
    if (at < event.length && c !== LF && c !== CR) continue;
    if (DATA.every((one, i) => event[start + i] === one)) {
      if (lines++ > 0) {
        bytes.push(LF);
        places.push(-1);
      }
      const first = start + DATA.length;
      for (let i = event[first] === SPACE ? first + 1 : first; i < at; i++) {
        bytes.push(event[i] ?? 0);
        places.push(i);
      }
    }
    start = at + 1;
  }
  return { bytes, places };
}

interface Member {
  readonly name: unknown;
  readonly start: number;
  /** Of the comma or the bracket after it. */
  readonly end: number;
}

/** Members of that name, each with one of the commas around it. */
function rangesOf(name: string, members: readonly Member[]): readonly (readonly [number, number])[] {
  const kept = members.filter((member) => member.name !== name);
  return members.flatMap((member, at) => {
    if (member.name !== name) return [];
    const next = members[at + 1];
    return [next ? [member.start, next.start] : [kept.at(-1)?.end ?? member.start, member.end]];
  });
}

/** The members of a JSON object, which was parsed before. */
function membersOf(json: readonly number[]): readonly Member[] {
  const members: Member[] = [];
  let depth = 0;
  let start = -1;
  let name: unknown;
  for (let at = 0; at < json.length; at++) {
    const c = json[at];
    if (c === QUOTE) {
      const end = stringEnd(json, at);
      if (depth === 1 && start < 0) {
        start = at;
        name = parse(Buffer.from(json.slice(at, end)).toString('utf8'));
      }
      at = end - 1;
    } else if (c === OPEN_OBJECT || c === OPEN_ARRAY) {
      depth++;
    } else if (c === CLOSE_OBJECT || c === CLOSE_ARRAY) {
      depth--;
    }
    const over = (c === COMMA && depth === 1) || (c === CLOSE_OBJECT && depth === 0);
    if (!over || start < 0) continue;
    members.push({ name, start, end: at });
    start = -1;
  }
  return members;
}

/** After the closing quote of the string that starts at `at`. */
function stringEnd(json: readonly number[], at: number): number {
  let end = at + 1;
  while (end < json.length && json[end] !== QUOTE) end += json[end] === BACKSLASH ? 2 : 1;
  return end + 1;
}

function says(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : (value ?? null) !== null;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function objectIn(value: unknown): Readonly<Record<string, unknown>> | null {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? Object.fromEntries(Object.entries(value)) : null;
}
