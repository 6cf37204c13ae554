import { tableLines } from '#lib/control/operations/text';
import type { OfferStatus } from '#lib/gateway/metrics/offers';
import type { ProcessStatus } from '#lib/gateway/metrics/status';
import { askProcesses } from '#lib/gateway/snapshot/announce';
import { type Command, CommandRefused } from '#lib/programs/command/command';

export const health: readonly Command[] = [
  {
    name: 'health',
    usage: '',
    positionals: [],
    options: [],
    required: [],
    run: async (context) => {
      const { dataDir } = context.env();
      const processes = (await askProcesses(dataDir, 'status')).flatMap(readStatus);
      if (processes.length === 0) {
        throw new CommandRefused(`no gateway process is running on ${dataDir}; start one with "npm start"`);
      }
      const stopped = processes.filter((one) => !one.ready);
      const failed = `processes that do not admit new calls: ${stopped.map((one) => one.pid).join(', ')}`;
      processes.sort((one, other) => (one.worker ?? 0) - (other.worker ?? 0) || one.pid - other.pid);
      const together = sumOf(processes);
      const texts = processes.map(textOf);
      if (processes.length > 1) texts.push(sumText(together));
      return {
        json: { processes, together },
        text: texts.join('\n\n'),
        ...(stopped.length > 0 && { failed }),
      };
    },
  },
];

/** The answer of a process of this version; older versions may answer something else. */
function readStatus(answer: string): ProcessStatus[] {
  try {
    return [JSON.parse(answer)];
  } catch {
    return [];
  }
}

type Sum = Pick<ProcessStatus, 'callsInFlight' | 'journalBacklog'> & { readonly ready: number };

function sumOf(processes: readonly ProcessStatus[]): Sum {
  const sum = (count: (one: ProcessStatus) => number) =>
    processes.reduce((total, one) => total + count(one), 0);
  return {
    ready: sum(({ ready }) => (ready ? 1 : 0)),
    callsInFlight: sum(({ callsInFlight }) => callsInFlight),
    journalBacklog: sum(({ journalBacklog }) => journalBacklog),
  };
}

function sumText({ ready, callsInFlight, journalBacklog }: Sum): string {
  return `total: ${ready} admit calls, ${callsInFlight} in flight, ${journalBacklog} ended but not in the database yet`;
}

function textOf({ pid, worker, ready, callsInFlight, journalBacklog, offers }: ProcessStatus): string {
  const titles = ['MODEL', 'PROVIDER', 'STATE', 'ERRORS', 'STREAM', 'WHOLE', 'TOKENS/S', 'RUNNING'];
  return [
    `${worker ? `worker ${worker}, process` : 'process'} ${pid} ${ready ? 'admits calls' : 'does not admit new calls'}: ${callsInFlight} in flight, ${journalBacklog} ended but not in the database yet`,
    tableLines(titles, offers.map(rowOf), 'no offer was tried since its start'),
  ].join('\n');
}

function rowOf(offer: OfferStatus): unknown[] {
  const ms = (value: number | null) => (value === null ? null : `${Math.round(value)} ms`);
  return [
    offer.model,
    offer.provider,
    offer.state === 'set aside' ? `${offer.state}, ${Math.ceil(offer.backInSeconds)} s` : offer.state,
    `${Math.round(offer.errorRate * 100)}%`,
    ms(offer.streamFirstByteMs),
    ms(offer.wholeMs),
    offer.tokensPerSecond === null ? null : Math.round(offer.tokensPerSecond),
    offer.running,
  ];
}
