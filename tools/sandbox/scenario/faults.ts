import type { Behaviour, Stop } from '#tools/sandbox/scenario/behaviour';
import { type ModelName, numberParam } from '#tools/sandbox/scenario/name';

/**
 * Every fault of the simulated provider, chosen by model name: `fault/NAME[@N][?key=value&…]`.
 * N is how many content chunks are sent before it; a whole JSON body breaks halfway instead.
 * Parameters of every name: `tokens=` output length, `reasoning=`, `tier=`, `ms=` (see each), and
 * `times=K`: the fault strikes only the first K requests with exactly this name.
 */
export interface Fault {
  /** A description in one line. */
  readonly about: string;
  readonly behave: (name: ModelName) => Partial<Behaviour>;
}

const status = (code: number, body: 'error' | 'xai-key' | 'html' | 'json' = 'error'): Partial<Behaviour> => ({
  instead: { kind: 'status', status: code, body },
});

const stop = (by: Stop['by']) => (name: ModelName) => ({
  stop: { by, after: name.at ?? 2, resumeMs: name.params.has('ms') ? numberParam(name, 'ms', 0) : null },
});

/** Before headers without @N, after N chunks with it. */
const stopOrInstead = (by: 'stall' | 'reset', kind: 'silence' | 'reset') => (name: ModelName) =>
  name.at === null && !name.params.has('ms') ? { instead: { kind } } : stop(by)(name);

const retryAfter = (name: ModelName): Readonly<Record<string, string>> => {
  const value = name.params.get('retry_after');
  return value === undefined ? {} : { 'retry-after': value };
};

export const faults: Readonly<Record<string, Fault>> = {
  'invalid-key-400': { about: '400 that names an invalid API key', behave: () => status(400, 'xai-key') },
  'error-body': { about: '200 with the body of an error', behave: () => status(200) },
  garbage: {
    about: '200 with HTML; ?kind=json: JSON cut in the middle, with an honest length',
    behave: (name) => status(200, name.params.get('kind') === 'json' ? 'json' : 'html'),
  },
  redirect: {
    about: '302; ?to=URL, else a metadata address',
    behave: (name) => ({
      ...status(302, 'html'),
      headers: { location: name.params.get('to') ?? 'http://169.254.169.254/latest/meta-data/' },
    }),
  },
  stall: {
    about: 'silence before headers; @N: after N chunks (@0: after headers); ?ms= it then goes on',
    behave: stopOrInstead('stall', 'silence'),
  },
  reset: { about: 'TCP reset before headers; @N: after N chunks', behave: stopOrInstead('reset', 'reset') },
  'close-before-headers': {
    about: 'FIN without an answer',
    behave: () => ({ instead: { kind: 'close' } }),
  },
  cut: { about: '@N: FIN mid-body, no last chunk', behave: stop('fin') },
  'cut-inside': { about: '@N: half of the next event, inside a character, then FIN', behave: stop('inside') },
  end: { about: '@N: body ends properly, but no finish chunk, usage or [DONE]', behave: stop('end') },
  'error-event': { about: '@N: in-stream error event, then the end', behave: stop('error-event') },
  'malformed-event': { about: '@N: an event that is not JSON, then the rest', behave: stop('malformed') },
  'slow-first-byte': {
    about: 'silence of ?ms= (1000) before the status line',
    behave: (name) => ({ firstByteMs: numberParam(name, 'ms', 1000) }),
  },
  'slow-bytes': {
    about: 'writes of ?size= (1) bytes',
    behave: (name) => ({ sliceBytes: Math.max(1, numberParam(name, 'size', 1)) }),
  },
  crlf: { about: 'CRLF line endings', behave: () => ({ newline: '\r\n' }) },
  lf: { about: 'LF line endings', behave: () => ({ newline: '\n' }) },
  cr: { about: 'lone CR line endings', behave: () => ({ newline: '\r' }) },
  comments: { about: 'SSE comments between events', behave: () => ({ extra: 'comments' }) },
  'long-events': {
    about: 'events of a chat stream with ?bytes= (8192) more',
    behave: (name) => ({ paddingBytes: numberParam(name, 'bytes', 8_192) }),
  },
  'done-twice': { about: '[DONE] twice', behave: () => ({ extra: 'done-twice' }) },
  'trailing-bytes': { about: 'bytes after [DONE]', behave: () => ({ extra: 'trailing-bytes' }) },
  'moderation-chunk': {
    about: 'a chunk with choices: [] and moderation after the usage',
    behave: () => ({ extra: 'moderation' }),
  },
  endless: {
    about: 'a stream without end, whatever the budget',
    behave: () => ({ endless: true, gapMs: 1 }),
  },
  'no-usage': { about: 'no usage at all', behave: () => ({ usage: 'none' }) },
  'null-usage': { about: 'usage: null in its place', behave: () => ({ usage: 'null' }) },
  'negative-usage': { about: 'negative figures', behave: () => ({ usage: 'negative' }) },
  'absurd-usage': { about: 'figures of 10^12', behave: () => ({ usage: 'absurd' }) },
  'fraction-usage': { about: 'figures that are not whole numbers', behave: () => ({ usage: 'fraction' }) },
  'usage-twice': {
    about: 'the usage chunk twice, the first with half of the output',
    behave: () => ({ usagePlace: 'twice' }),
  },
  'usage-in-finish-chunk': {
    about: 'unrequested usage, on the chunk with finish_reason',
    behave: () => ({ usagePlace: 'finish-chunk' }),
  },
  'usage-every-chunk': {
    about: 'unrequested usage, growing, on every chunk',
    behave: () => ({ usagePlace: 'every-chunk' }),
  },
  'x-groq-usage': { about: 'unrequested usage, in x_groq.usage', behave: () => ({ usagePlace: 'x-groq' }) },
  'wrong-length': {
    about: 'content-length off by ?by= (10): positive too long, negative too short',
    behave: (name) => ({ lengthOffset: Math.trunc(Number(name.params.get('by') ?? 10)) || 10 }),
  },
  gzip: { about: 'gzip, although identity was requested', behave: () => ({ gzip: true }) },
  'huge-headers': {
    about: 'a header of ?bytes= (65536)',
    behave: (name) => ({ headers: { 'x-filler': 'a'.repeat(numberParam(name, 'bytes', 65_536)) } }),
  },
};

/**
 * `status-CODE` for 400 to 599, with ?retry_after=; otherwise a row of the table; null for an unknown name.
 */
export function findFault(name: ModelName): Partial<Behaviour> | null {
  const code = Number(/^status-([45]\d\d)$/.exec(name.fault ?? '')?.[1] ?? 0);
  if (code > 0) return { ...status(code), headers: retryAfter(name) };
  return (Object.hasOwn(faults, name.fault ?? '') ? faults[name.fault ?? ''] : null)?.behave(name) ?? null;
}

/** What may follow `fault/`, for the message about an unknown fault. */
export function faultNames(): string[] {
  return ['status-400…599', ...Object.keys(faults)];
}
