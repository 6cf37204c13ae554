/** A string, number, name of a property or line of a body, with what says which others it continues. */
export interface Leaf {
  readonly kind: 'string' | 'name' | 'number' | 'plain' | 'field' | 'odds';
  /** Where its content is in the body; of a string, without its quotes. */
  readonly from: number;
  readonly to: number;
  /** Leaves of one text have the same: the pieces of a stream, the parts of a message. */
  readonly text: string;
  /** The property that has it as its value; empty: none. */
  readonly property: string;
}

/** An object or array that is being read. */
interface Holder {
  readonly parent: Holder | null;
  readonly isArray: boolean;
  /** Its property; empty in an array and at the root. */
  readonly property: string;
  readonly from: number;
  /** What distinguishes the texts in it: `index`, `output_index`; known at its end. */
  facts: string;
  type: string;
}

type Found = Omit<Leaf, 'text'> & { readonly holder: Holder | null; readonly turn: number };

const places = new Set(['index', 'output_index', 'content_index', 'summary_index']);
/** Arrays whose elements are separate texts, the first of which some providers do not number. */
const numbered = new Set(['choices', 'candidates', 'tool_calls']);
/** The events that begin a text are part of it. */
const continued: Readonly<Record<string, string>> = {
  content_block_start: 'content_block_delta',
  'response.content_part.added': 'response.output_text.delta',
};
const sameText: Readonly<Record<string, string>> = {
  'response.output_text.delta.part.text': 'response.output_text.delta.delta',
};

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Takes a body into its leaves: JSON, events whose data is JSON, or lines of text. What cannot be read as such is a
 * line as well, so every character that can say something is in a leaf.
 * @param isRequest what another role says is another text then.
 */
export function leavesOf(body: string, isEvents: boolean, isRequest: boolean): Leaf[] {
  if (!isEvents) {
    const reader = new Reader(body, isRequest);
    reader.read([[0, body.length]]);
    return reader.leaves();
  }
  const { events, others } = linesOf(body);
  const reader = new Reader(withoutFields(body, events), isRequest);
  for (const event of events) reader.read(event);
  for (const [from, to] of others) reader.line('field', from, to);
  return reader.leaves();
}

type Line = readonly [from: number, to: number];

/** The lines of data of each event, and all other lines. */
function linesOf(body: string): { readonly events: Line[][]; readonly others: Line[] } {
  const events: Line[][] = [];
  const others: Line[] = [];
  let data: Line[] = [];
  for (const { 0: line, index } of body.matchAll(/[^\r\n]+|\r\n|\r|\n/g)) {
    const field = /^\uFEFF?data: ?/.exec(line);
    if (field) data.push([index + field[0].length, index + line.length]);
    else if (!/^[\r\n]/.test(line)) others.push([index, index + line.length]);
    else if (/[\r\n]/.test(body.charAt(index - 1)) && data.length > 0) {
      events.push(data);
      data = [];
    }
  }
  if (data.length > 0) events.push(data);
  return { events, others };
}

/** Writes spaces between the lines of an event, so that its data can be read where it is. */
function withoutFields(body: string, events: readonly (readonly Line[])[]): string {
  const parts: string[] = [];
  let done = 0;
  for (const lines of events) {
    for (const [place, [from]] of lines.entries()) {
      const before = lines[place - 1];
      if (!before) continue;
      parts.push(body.slice(done, before[1]), ' '.repeat(from - before[1]));
      done = from;
    }
  }
  parts.push(body.slice(done));
  return parts.join('');
}

class Reader {
  readonly #body: string;
  readonly #isRequest: boolean;
  readonly #found: Found[] = [];
  #role = '';
  #turn = 0;

  constructor(body: string, isRequest: boolean) {
    this.#body = body;
    this.#isRequest = isRequest;
  }

  leaves(): Leaf[] {
    return this.#found.map(({ holder, turn, ...leaf }) => ({
      ...leaf,
      text: leaf.kind === 'string' ? `${turn}${textOf(holder, leaf.property)}` : leaf.kind,
    }));
  }

  /** A line as it is. */
  line(kind: 'plain' | 'field', from: number, to: number): void {
    this.#add(kind, [from, to], null, '');
  }

  /** JSON, in one line or more, or anything else. */
  read(lines: readonly Line[]): void {
    const [first, last] = [lines[0], lines.at(-1)];
    if (!first || !last || this.#values(first[0], last[1])) return;
    for (const [from, to] of lines) this.line('plain', from, to);
  }

  #add(kind: Leaf['kind'], [from, to]: Line, holder: Holder | null, property: string): void {
    if (to > from) this.#found.push({ kind, from, to, holder, property, turn: this.#turn });
  }

  /**
   * Reads a JSON value, or objects one after another, without recursion. It keeps what it read of a value that was cut.
   * @returns false: it is something else.
   */
  #values(from: number, to: number): boolean {
    const body = this.#body;
    let holder: Holder | null = null;
    let property: string | null = null;
    /** Whether a comma or an end has to come. */
    let isAfter = false;
    let at = from;
    while (at < to) {
      const c = body.charAt(at);
      if (c <= ' ') at += 1;
      else if (c === '}' || c === ']') {
        if (holder === null || holder.isArray !== (c === ']') || property !== null) return false;
        // Log probabilities repeat the text, token by token and as bytes.
        if (isOdds(holder)) this.#add('odds', [holder.from, at + 1], holder.parent, '');
        holder = holder.parent;
        isAfter = true;
        at += 1;
      } else if (c === ',') {
        if (holder === null || !isAfter) return false;
        isAfter = false;
        at += 1;
      } else if (isAfter && (holder !== null || c !== '{')) return false;
      else if (c === '"' && holder !== null && !holder.isArray && property === null) {
        const end = stringEnd(body, at + 1, to);
        this.#add('name', [at + 1, end], holder, '');
        property = body.slice(at + 1, end);
        at = colonAfter(body, end + 1, to);
        if (at < 0) return false;
      } else if (holder !== null && !holder.isArray && property === null) return false;
      else if (c === '{' || c === '[') {
        holder = {
          parent: holder,
          isArray: c === '[',
          property: property ?? '',
          from: at,
          facts: '',
          type: '',
        };
        property = null;
        isAfter = false;
        at += 1;
      } else {
        const end = c === '"' ? stringEnd(body, at + 1, to) : wordEnd(body, at, to);
        if (end < 0) return false;
        if (c === '"') this.#string(at + 1, end, holder, property ?? '');
        else this.#word(at, end, holder, property ?? '');
        property = null;
        isAfter = true;
        at = c === '"' ? end + 1 : end;
      }
    }
    // What was cut.
    for (let open = holder; open !== null; open = open.parent) {
      if (isOdds(open)) this.#add('odds', [open.from, to], open.parent, '');
    }
    return true;
  }

  #string(from: number, to: number, holder: Holder | null, property: string): void {
    if (property === 'role' && this.#isRequest) {
      const role = this.#body.slice(from, to);
      if (role !== this.#role) this.#turn += 1;
      this.#role = role;
    }
    if (property === 'type' && holder) holder.type = this.#body.slice(from, to);
    this.#add('string', [from, to], holder, property);
  }

  #word(from: number, to: number, holder: Holder | null, property: string): void {
    const word = this.#body.slice(from, to);
    if (/^[tfn]/.test(word)) {
      if (holder && property === 'thought' && word === 'true') holder.facts += ' thought';
      return;
    }
    if (holder && places.has(property)) holder.facts += ` ${property}${word}`;
    this.#add('number', [from, to], holder, property);
  }
}

const isOdds = ({ property }: Holder) => property === 'logprobs' || property === 'logprobsResult';

/** The place of the closing quote, or where the text ends. */
function stringEnd(body: string, from: number, to: number): number {
  for (let at = from; at < to; at += 1) {
    const c = body.charCodeAt(at);
    if (c === QUOTE) return at;
    if (c === BACKSLASH) at += 1;
  }
  return to;
}

/** The place after the colon; the end, if it was cut; -1: something else follows. */
function colonAfter(body: string, from: number, to: number): number {
  let at = from;
  while (at < to && body.charAt(at) <= ' ') at += 1;
  if (at >= to) return to;
  return body.charAt(at) === ':' ? at + 1 : -1;
}

const word = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.+-])|(?:true|false|null)(?!\w)/y;

/** The end of a number or a literal; -1: there is none. */
function wordEnd(body: string, at: number, to: number): number {
  word.lastIndex = at;
  const found = word.exec(body);
  return found === null || at + found[0].length > to ? -1 : at + found[0].length;
}

/** Which text a string belongs to: its path without the places in arrays, and what distinguishes texts. */
function textOf(holder: Holder | null, property: string): string {
  let path = property;
  let facts = '';
  let type = '';
  for (let at = holder; at !== null; at = at.parent) {
    facts += at.facts;
    if (at.parent && numbered.has(at.parent.property) && !at.facts.includes(' index')) facts += ' index0';
    path = `${at.property === 'content_block' ? 'delta' : at.property}.${path}`;
    type = at.type;
  }
  type = continued[type] ?? type;
  const whole = `${type}${path}`;
  return `${sameText[whole] ?? whole}${facts}`;
}
