import type { Metadata } from 'next';
import { ListColumnsButton } from '#components/columns/list-columns-button';
import { figureColumn, type ListColumns, ListTable } from '#components/columns/list-table';
import { InnerTable } from '#components/fleet/inner-table';
import { When } from '#components/fleet/when';
import { PageHead } from '#components/page-head';
import { Section } from '#components/section';
import { Badge } from '#components/ui/badge';
import { readChosenColumns } from '#lib/console/chosen-columns';
import { shownColumns } from '#lib/console/columns';
import { readForOperator } from '#lib/console/operator';
import { readSort, sortRows } from '#lib/console/sort';
import { listJournals } from '#lib/control/operations/fleet/journals';
import { listLeases, listProcesses, type ShownProcess } from '#lib/control/operations/fleet/processes';
import { showCount, showMoney } from '#lib/core/show-money';
import { chooseColumnsAction } from '../../../columns-action';

export const metadata: Metadata = { title: 'Processes' };

const right = true;
const descendingFirst = true;
const processColumns: ListColumns<ShownProcess & { readonly nowMs: number }, 'processes'> = {
  fixed: {
    sort: { by: 'process' },
    place: 'title',
    show: ({ machine, pid }) => (
      <span className="grid min-w-32">
        <span className="font-medium [overflow-wrap:anywhere]">{machine}</span>
        <span className="text-muted text-xs">process {pid}</span>
      </span>
    ),
  },
  state: { place: 'figure', show: ({ alive }) => <State alive={alive} /> },
  version: { sort: { by: 'version' }, show: ({ version }) => version ?? 'unknown' },
  started: {
    sort: { by: 'started', descendingFirst },
    show: ({ startedAt, nowMs }) => <When iso={startedAt} nowMs={nowMs} />,
  },
  leases: { ...figureColumn, sort: { by: 'leases', descendingFirst }, show: ({ leases }) => leases },
  granted: {
    ...figureColumn,
    sort: { by: 'granted', descendingFirst },
    show: ({ granted }) => showMoney(granted),
  },
  held: { ...figureColumn, sort: { by: 'held', descendingFirst }, show: ({ held }) => showMoney(held) },
  content: {
    ...figureColumn,
    sort: { by: 'content', descendingFirst },
    show: ({ contentKept }) => showCount(contentKept),
  },
  lost: {
    ...figureColumn,
    sort: { by: 'lost', descendingFirst },
    show: ({ contentLost, contentAnswers, alive }) => (
      <>
        {showCount(contentLost)}
        {alive && contentAnswers === false ? (
          <span className="block text-bad text-xs">store fails</span>
        ) : null}
      </>
    ),
  },
  id: {
    className: 'min-w-40',
    show: ({ id }) => <code className="font-mono text-xs [overflow-wrap:anywhere]">{id}</code>,
  },
};
const leaseColumns = [
  { title: 'Workspace' },
  { title: 'Lease for' },
  { title: 'Process' },
  { title: 'May spend', right, place: 'figure' },
  { title: 'Held', right },
  { title: 'Recalled' },
] as const;
const ofJournals = { parameter: 'journals', descendingFirst };
const journalColumns = [
  { title: 'Journal' },
  { title: 'State', place: 'state' },
  { title: 'Files', right, sort: { ...ofJournals, by: 'files' } },
  { title: 'Bytes', right, place: 'figure', sort: { ...ofJournals, by: 'bytes' } },
] as const;
const asideColumns = ['Record', 'Kind', 'Call', 'File'].map((title) => ({ title }));

interface FleetPageProps {
  searchParams: Promise<Record<string, string | string[] | undefined>>;
}

export default async function FleetPage({ searchParams }: FleetPageProps) {
  const query = await searchParams;
  const [processes, leases, journals] = await Promise.all([
    readForOperator(listProcesses),
    readForOperator(listLeases),
    readForOperator(listJournals),
  ]);
  const nowMs = Date.now();
  const chosen = await readChosenColumns('processes', query);
  const sortedProcesses = sortRows(processes.data, readSort([query.sort].flat()[0]), {
    process: ({ machine, pid }) => `${machine} ${pid}`,
    version: ({ version }) => version,
    started: ({ startedAt }) => startedAt,
    leases: ({ leases }) => leases,
    granted: ({ granted }) => Number(granted),
    held: ({ held }) => Number(held),
    content: ({ contentKept }) => contentKept,
    lost: ({ contentLost }) => contentLost,
  });
  const sortedJournals = sortRows(journals.data, readSort([query.journals].flat()[0]), {
    files: ({ files }) => files,
    bytes: ({ bytes }) => bytes,
  });
  const versions = new Set(processes.data.flatMap(({ alive, version }) => (alive ? (version ?? '?') : [])));
  return (
    <>
      <PageHead
        help="operator-fleet"
        title="Processes"
        action={<ListColumnsButton table="processes" remembered={chosen} remember={chooseColumnsAction} />}
      >
        The gateway processes on all machines, what each may spend on its own, and what is waiting in their
        journals.
      </PageHead>
      <Section
        title="Processes"
        note={versions.size > 1 ? `${versions.size} versions running: ${[...versions].join(', ')}` : null}
      >
        {sortedProcesses.length === 0 ? (
          <p className="px-4 py-4 text-muted">
            No process with a journal is running. Processes that settle only through the database are not
            listed.
          </p>
        ) : (
          <ListTable
            label="Processes"
            table="processes"
            looks={processColumns}
            columns={shownColumns('processes', chosen)}
            rows={sortedProcesses.map((one) => ({ ...one, nowMs }))}
            framed={false}
          />
        )}
      </Section>
      <Section
        title="Leases"
        note={leases.all > 0 ? `The largest ${leases.data.length} of ${showCount(leases.all)}` : null}
      >
        <InnerTable
          label="Leases"
          columns={leaseColumns}
          none="No leases: no workspace has made calls recently."
          rows={leases.data.map((lease) => ({
            id: `${lease.process} ${lease.kind} ${lease.key ?? lease.workspace}`,
            cells: [
              lease.workspace ?? 'unknown',
              lease.kind === 'key' ? `caps of key ${lease.key?.slice(0, 13) ?? '?'}…` : 'funds',
              `${lease.machine}, ${lease.pid}${lease.alive ? '' : ' (no heartbeat)'}`,
              showMoney(lease.granted),
              showMoney(lease.held),
              lease.recalledAt === null ? 'No' : <When key="recalled" iso={lease.recalledAt} nowMs={nowMs} />,
            ],
          }))}
        />
      </Section>
      <Section title="Journals" note="On the machine that serves this page">
        <InnerTable
          label="Journals"
          columns={journalColumns}
          none={journals.kept ? 'No journal files on this machine.' : 'This process keeps no journal.'}
          rows={sortedJournals.map((one) => ({
            id: one.process,
            cells: [
              <code key="process" className="font-mono text-xs">
                {one.process}
              </code>,
              <State key="state" alive={one.alive} />,
              one.files,
              showCount(one.bytes),
            ],
          }))}
        />
      </Section>
      {journals.setAsideAll > 0 ? (
        <Section
          title="Records that could not be posted"
          note={`${journals.setAside.length} of ${showCount(journals.setAsideAll)}`}
        >
          <InnerTable
            label="Records that could not be posted"
            columns={asideColumns}
            none=""
            rows={journals.setAside.map((one, place) => ({
              id: `${one.file} ${place}`,
              cells: [one.record ?? 'unknown', one.kind, one.call ?? 'unknown', one.file],
            }))}
          />
          <p className="border-t px-4 py-3 text-muted text-xs leading-5">
            Rejected records are retried at the next start. Damaged records stay in their file until they have
            been dealt with; the file is then deleted.
          </p>
        </Section>
      ) : null}
    </>
  );
}

function State({ alive }: { alive: boolean }) {
  return (
    <Badge tone={alive ? 'good' : 'warn'} dot>
      {alive ? 'Running' : 'No heartbeat'}
    </Badge>
  );
}
