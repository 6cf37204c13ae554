import type { ReactNode } from 'react';
import { Section } from '#components/section';
import { Badge } from '#components/ui/badge';
import { CopyButton } from '#components/ui/copy-button';

interface JobStateProps {
  job: {
    readonly id: string;
    readonly kind: string;
    readonly provider: string;
    readonly state: string;
    /** Set while its money is held. */
    readonly hold: string | null;
    /** Set once it is settled. */
    readonly cost: string | null;
    readonly exactCost: string | null;
    readonly settled: string | null;
  };
}

const tones: Readonly<Record<string, 'good' | 'bad' | 'warn'>> = {
  completed: 'good',
  failed: 'bad',
  lost: 'warn',
};

/** The job that a call created: its state and its cost. */
export function JobState({ job }: JobStateProps) {
  const money =
    job.cost === null
      ? { name: 'Held', value: job.hold ?? 'released: the provider never reported the end of the job' }
      : { name: 'Charged', value: job.cost };
  return (
    <Section title="Job" note={job.settled ? `settled ${job.settled}` : 'charged when it completes'}>
      <dl className="grid gap-x-8 px-4 py-2 sm:grid-cols-2">
        <Fact name="State">
          <Badge tone={tones[job.state] ?? 'neutral'}>{job.state}</Badge>
        </Fact>
        <Fact name={money.name}>
          <span title={job.exactCost ? `$${job.exactCost}` : undefined}>{money.value}</span>
        </Fact>
        <Fact name={job.kind}>
          <span className="flex min-w-0 items-center gap-1">
            <code className="min-w-0 break-all font-mono text-xs">{job.id}</code>
            <CopyButton value={job.id} what={`${job.kind} id`} />
          </span>
        </Fact>
        <Fact name="Provider">{job.provider}</Fact>
      </dl>
    </Section>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="grid grid-cols-[7.5rem_minmax(0,1fr)] items-baseline gap-3 py-1.5">
      <dt className="text-muted first-letter:uppercase">{name}</dt>
      <dd className="min-w-0 break-words">{children}</dd>
    </div>
  );
}
