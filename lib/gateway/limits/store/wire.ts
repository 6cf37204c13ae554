import type {
  Freed,
  PermitAnswer,
  PermitRequest,
  WindowEntry,
} from '#lib/gateway/limits/pure/permit-request';

/** The keys of a permit request, in the script's order; one hash tag, so that a cluster keeps them together. */
export function keysOf({ workspaceId, subjects }: PermitRequest): string[] {
  const home = `gateway:limits:{${workspaceId}}`;
  const parts = ['at', 'weight', 'slot'] as const;
  return [home, ...subjects.flatMap(({ id }) => parts.map((part) => `${home}:${id}:${part}`))];
}

/** A permit request as lists, which `limitScript` reads. */
export function encodePermitRequest(ask: PermitRequest): string {
  const entries = (list: readonly WindowEntry[]) =>
    list.map(({ id, requests, tokens, ageMs }) => [id, requests, tokens, ageMs]);
  const subjects = ask.subjects.map(({ limits, slots, lowered, used, want }) => [
    ...[limits.rpm, limits.tpm, limits.concurrency, slots],
    entries(lowered),
    entries(used),
    [want.requests, want.tokens, want.slots],
  ]);
  const calls = ask.calls.map((call) => [
    ...call.subjects,
    ...[call.requests, call.tokens, call.slot ? 1 : 0],
  ]);
  return JSON.stringify([ask.process, ask.turn, ask.epoch, ask.processes, subjects, calls]);
}

type ToldSubject = readonly [
  ...granted: [number, number, number],
  ...room: [number | null, number | null, number | null],
  freed: readonly Freed[] | null,
];

/** What `limitScript` wrote. @throws when it is something else. */
export function decodeAnswer(text: string): PermitAnswer {
  const told = toldIn(JSON.parse(text));
  return {
    epoch: told.epoch,
    lost: told.lost,
    admitted: [...told.admitted].map((one) => one === '1'),
    subjects: told.subjects.map(([requests, tokens, slots, rpm, tpm, concurrency, freed]) => ({
      granted: { requests, tokens, slots },
      room: { requests: rpm, tokens: tpm, slots: concurrency },
      freed: freed === null ? null : [...freed].sort(([one], [other]) => one - other),
    })),
  };
}

interface Told {
  readonly epoch: string;
  readonly lost: boolean;
  readonly admitted: string;
  readonly subjects: readonly ToldSubject[];
}

/** The script alone writes these keys; whatever else stands there has no list of subjects. */
function toldIn(value: unknown): Told {
  if (typeof value === 'object' && value !== null && 'subjects' in value && Array.isArray(value.subjects)) {
    return value as Told;
  }
  throw new Error('the limit store answered with something else');
}
