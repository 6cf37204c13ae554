import { EventSplitter } from '#lib/relay/sse';

/** Keys that the event may have which only our own `include_usage` brought about (contract: body/include-usage). */
const allowed: ReadonlySet<string> = new Set([
  'id',
  'object',
  'created',
  'model',
  'system_fingerprint',
  'service_tier',
  'usage',
  'choices',
  'obfuscation',
]);

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LONGEST_KEY = 'system_fingerprint'.length;

type Phase = 'start' | 'key' | 'colon' | 'value' | 'inside' | 'choices' | 'end';

/**
 * Reads the JSON of one event byte by byte, just far enough to see that it is not the usage event: an
 * unknown key, a choice, or no usage. It never says yes; `isUsageEvent` does.
 */
export class UsageProbe {
  #phase: Phase = 'start';
  #depth = 0;
  #inString = false;
  #escaped = false;
  #key: string | null = null;

  /** @returns false once the event cannot be the one; feed nothing after that. */
  feed(c: number): boolean {
    if (this.#inString) return this.#feedString(c);
    if (c === 0x20 || c === 0x09 || c === 0x0a || c === 0x0d) return true;
    switch (this.#phase) {
      case 'start':
        this.#depth = 1;
        this.#phase = 'key';
        return c === 0x7b;
      case 'key':
        if (c === 0x7d) return this.#close();
        this.#key = '';
        this.#inString = true;
        return c === QUOTE;
      case 'colon':
        this.#phase = 'value';
        return c === 0x3a;
      case 'value':
        return this.#startValue(c);
      case 'choices':
        this.#depth = 1;
        this.#phase = 'inside';
        return c === 0x5d;
      case 'inside':
        return this.#feedInside(c);
      case 'end':
        return false;
    }
  }

  #feedString(c: number): boolean {
    if (this.#escaped) {
      this.#escaped = false;
    } else if (c === BACKSLASH) {
      this.#escaped = true;
      return this.#key === null;
    } else if (c === QUOTE) {
      this.#inString = false;
      if (this.#key === null) return true;
      this.#phase = 'colon';
      return allowed.has(this.#key);
    } else if (this.#key !== null) {
      this.#key += String.fromCharCode(c);
      return this.#key.length <= LONGEST_KEY;
    }
    return true;
  }

  #startValue(c: number): boolean {
    const key = this.#key;
    this.#key = null;
    this.#phase = 'inside';
    if (key === 'choices') {
      this.#phase = 'choices';
      return c === 0x5b;
    }
    if (key === 'usage' && c === 0x6e) return false;
    return this.#feedInside(c);
  }

  #feedInside(c: number): boolean {
    if (c === QUOTE) this.#inString = true;
    else if (c === 0x7b || c === 0x5b) this.#depth++;
    else if (c === 0x2c && this.#depth === 1) this.#phase = 'key';
    else if (c === 0x7d || c === 0x5d) {
      if (this.#depth === 1) return this.#close();
      this.#depth--;
    }
    return true;
  }

  #close(): boolean {
    this.#depth = 0;
    this.#phase = 'end';
    return true;
  }
}

/**
 * Whether these bytes are exactly the event that is removed (contract: body/include-usage): no choice, usage, nothing
 * else.
 */
export function isUsageEvent(bytes: Uint8Array): boolean {
  const splitter = new EventSplitter();
  const event = splitter.push(bytes)[0] ?? splitter.flush();
  if (!event) return false;
  let chunk: unknown;
  try {
    chunk = JSON.parse(event.data);
  } catch {
    return false;
  }
  if (typeof chunk !== 'object' || chunk === null) return false;
  const fields = new Map<string, unknown>(Object.entries(chunk));
  const choices = fields.get('choices');
  if (!Array.isArray(choices) || choices.length > 0) return false;
  return (fields.get('usage') ?? null) !== null && [...fields.keys()].every((key) => allowed.has(key));
}
