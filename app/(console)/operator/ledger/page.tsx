import type { Metadata } from 'next';
import { Facts } from '#components/fleet/facts';
import { ReadAgain } from '#components/fleet/read-again';
import { SureButton } from '#components/fleet/sure-button';
import { When } from '#components/fleet/when';
import { PageHead } from '#components/page-head';
import { Section } from '#components/section';
import { Badge } from '#components/ui/badge';
import { readForOperator } from '#lib/console/operator';
import { showSpan } from '#lib/console/show/time';
import { showVerification } from '#lib/control/operations/verification/operations';
import { exactMoney } from '#lib/core/show-money';
import { startVerificationAction } from './actions';

export const metadata: Metadata = { title: 'Ledger' };

export default async function LedgerPage() {
  const { running, last } = await readForOperator(showVerification);
  const nowMs = Date.now();
  // Failed checks come first.
  const checks = (last?.checks ?? []).toSorted((one, other) => other.broken - one.broken);
  const verdict =
    last === null ? 'Not verified yet' : last.error ? 'Failed' : last.ok ? 'Passed' : 'Violations found';
  return (
    <>
      <PageHead
        help="operator-ledger"
        title="Ledger"
        action={
          <SureButton
            label={running ? 'Verifying…' : 'Verify the ledger'}
            question={null}
            disabled={running}
            input={{}}
            done="The verification has begun"
            act={startVerificationAction}
          />
        }
      >
        Checks every posting against its calls, jobs and payments while the gateway keeps running. This can
        take minutes with a large log; you can leave this page.
      </PageHead>
      {running ? (
        <p role="status" className="rounded-lg bg-info-soft px-4 py-3 text-info leading-5">
          The ledger is being verified. The result will appear here.
          <ReadAgain everyMs={2_000} />
        </p>
      ) : null}
      <Section title="Last verification">
        <Facts
          facts={[
            [
              'Result',
              <Badge key="result" tone={last === null ? 'neutral' : last.ok ? 'good' : 'bad'} dot>
                {verdict}
              </Badge>,
            ],
            ['Finished', <When key="when" iso={last?.endedAt ?? null} nowMs={nowMs} />],
            ['Took', last === null ? '–' : showSpan(last.tookMs)],
            ['Total charged above holds', last === null ? '–' : exactMoney(last.overHold)],
          ]}
        />
        {last?.error ? (
          <p className="border-t px-4 py-3 text-bad leading-5 [overflow-wrap:anywhere]">
            Verification failed: {last.error}
          </p>
        ) : null}
      </Section>
      {checks.length > 0 ? (
        <Section title="Invariants" note={`${checks.length} checked`}>
          <ul className="grid divide-y">
            {checks.map(({ name, rows, broken }) => (
              <li key={name} className="grid gap-2 px-4 py-2.5">
                <div className="flex items-center justify-between gap-4">
                  <span className="min-w-0 [overflow-wrap:anywhere]">{name}</span>
                  <Badge tone={broken === 0 ? 'good' : 'bad'} dot>
                    {broken === 0 ? 'Passed' : `Violations: ${broken === 100 ? '100 or more' : broken}`}
                  </Badge>
                </div>
                {rows.length > 0 ? (
                  <ul className="grid gap-1 font-mono text-xs leading-5">
                    {rows.map((row) => (
                      <li key={JSON.stringify(row)} className="[overflow-wrap:anywhere]">
                        {JSON.stringify(row)}
                      </li>
                    ))}
                  </ul>
                ) : null}
              </li>
            ))}
          </ul>
        </Section>
      ) : null}
    </>
  );
}
