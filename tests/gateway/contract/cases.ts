import type { Speaker } from '#tests/gateway/contract/speaker';

/** One behaviour of the provider, and what the contract makes of it in every family. */
export interface Case {
  readonly directive: string;
  readonly say?: string;
  /** The provider's; 200. */
  readonly status?: number;
  /** The provider broke off inside its answer: the client is told by the family's own means. */
  readonly broke?: boolean;
  /** A 2xx that is no answer, and no other target: 502, free. */
  readonly unusable?: true;
  /** Compressed although `identity` was asked for: the client gets the text. */
  readonly packed?: boolean;
  /** reported: as the provider said. broken: as far as it had said. */
  readonly charged?: 'reported' | 'estimated' | 'broken' | 'none';
  readonly end?: string;
  readonly flags?: readonly string[];
  /** Those of the provider that the client must get. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Absent: every family. */
  readonly families?: readonly string[];
}

const always: readonly Case[] = [
  { directive: 'echo?tokens=30' },
  { directive: 'reasoner?tokens=10&reasoning=24' },
  { directive: 'fault/slow-first-byte?ms=200' },
  { directive: 'fault/slow-bytes?size=7' },
  { directive: 'fault/no-usage', charged: 'estimated' },
  { directive: 'fault/null-usage', charged: 'estimated' },
  { directive: 'fault/negative-usage', charged: 'estimated', flags: ['usage_negative'] },
  { directive: 'fault/fraction-usage', flags: ['usage_not_integer'] },
  { directive: 'fault/gzip', packed: true },
  { directive: 'fault/redirect', status: 302, charged: 'none' },
  { directive: 'fault/invalid-key-400', status: 400, charged: 'none', end: 'upstream_error' },
  {
    directive: 'fault/status-429?retry_after=2',
    status: 429,
    charged: 'none',
    end: 'upstream_error',
    headers: { 'retry-after': '2' },
  },
  { directive: 'fault/moderation-chunk', families: ['chat', 'messages'] },
  { directive: 'fault/x-groq-usage', families: ['chat'] },
  { directive: 'echo?tokens=5', say: 'FORBIDDEN', families: ['generate-content'] },
];

/** Statuses that the client caused; of others the call failed at the provider. */
const ofClient = [400, 409, 413, 422];

const refused = (statuses: readonly number[]): readonly Case[] =>
  statuses.map((status) => ({
    directive: `fault/status-${status}`,
    status,
    charged: 'none',
    end: ofClient.includes(status) ? 'completed' : 'upstream_error',
  }));

/** Streams of theirs hold characters of several bytes. */
const texts = ['chat', 'responses', 'messages', 'generate-content'];

const broke = { broke: true, charged: 'broken', end: 'upstream_error' } as const;

const whole: readonly Case[] = [
  ...always,
  { directive: 'fault/garbage?kind=json', unusable: true },
  ...refused([400, 401, 402, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503, 504, 529]),
  { directive: 'fault/cut', unusable: true },
  { directive: 'fault/reset@3', unusable: true },
  { directive: 'fault/wrong-length?by=10', unusable: true },
  { directive: 'fault/end', unusable: true },
  { directive: 'fault/error-body', unusable: true },
];

const streamed: readonly Case[] = [
  ...always,
  ...refused([400, 401, 429, 500, 503, 529]),
  { directive: 'pace/5/20' },
  { directive: 'fault/cut@3', ...broke },
  { directive: 'fault/cut-inside@3', ...broke, families: texts },
  { directive: 'fault/reset@3', ...broke },
  { directive: 'fault/end@3', ...broke, families: texts },
  // One picture is a whole answer, however many were asked for.
  { directive: 'fault/end@3', charged: 'broken', families: ['images'] },
  { directive: 'fault/error-event@3', charged: 'broken', end: 'upstream_error' },
  { directive: 'fault/error-event@0', charged: 'none', end: 'upstream_error' },
  { directive: 'fault/usage-twice', families: ['chat', 'messages'] },
  { directive: 'fault/usage-in-finish-chunk', families: ['chat', 'generate-content'] },
  { directive: 'fault/usage-every-chunk', families: ['chat'] },
];

const events: readonly Case[] = [
  {
    directive: 'fault/garbage?kind=json',
    unusable: true,
    families: ['chat', 'responses', 'messages', 'images'],
  },
  { directive: 'fault/malformed-event@2' },
  { directive: 'fault/lf' },
  { directive: 'fault/crlf' },
  { directive: 'fault/cr' },
  { directive: 'fault/comments' },
  { directive: 'fault/done-twice', families: ['chat', 'messages'] },
  { directive: 'fault/trailing-bytes' },
];

export function casesOf({ family, framing }: Speaker): readonly Case[] {
  const all = framing === 'events' ? [...streamed, ...events] : framing === 'array' ? streamed : whole;
  return all.filter(({ families }) => families === undefined || families.includes(family));
}
