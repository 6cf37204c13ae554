import type { ReactNode } from 'react';
import { PromoList } from '#components/billing/promo-list';
import { Section } from '#components/section';
import { type FundsShown, type FundsWord, wordOnFunds } from '#lib/console/billing/funds';
import type { PromoShown } from '#lib/console/billing/promos';
import { showMoney, showMoneyDown } from '#lib/core/show-money';

interface BalanceFactsProps {
  funds: FundsShown;
  promos: readonly PromoShown[];
  /** URL of the ledger. */
  ledger: string;
  /** The form of the low balance, for members who may change it. */
  children?: ReactNode;
}

/** What the workspace can spend, and what it consists of. */
export function BalanceFacts({ funds, promos, ledger, children }: BalanceFactsProps) {
  const word = wordOnFunds(funds);
  return (
    <Section title="Balance">
      <div className="grid gap-4 p-4">
        <p>
          <span className="block text-muted text-xs">Available now</span>
          <span className="font-semibold text-2xl tabular-nums tracking-tight" title={`$${funds.available}`}>
            {showMoneyDown(funds.available)}
          </span>
        </p>
        <dl className="grid grid-cols-2 gap-3 border-t pt-3 sm:grid-cols-3">
          <Fact name="Balance" usd={funds.balance} />
          {funds.simulated === '0' ? null : <Fact name="Of which simulated" usd={funds.simulated} />}
          {funds.credit === '0' ? null : <Fact name="Credit limit" usd={funds.credit} />}
          <Fact name="Held by running calls" usd={funds.held} show={showMoney} />
        </dl>
        {funds.simulated === '0' ? null : (
          <p className="text-muted leading-5">
            Simulated money pays only for the simulated provider’s models; other calls need other funds.
          </p>
        )}
        <PromoList promos={promos} />
        {word ? <Word {...word} ledger={ledger} /> : null}
        {children ? <div className="border-t pt-4">{children}</div> : null}
      </div>
    </Section>
  );
}

function Word({ tone, text, ledger }: FundsWord & { ledger: string }) {
  const colour = tone === 'bad' ? 'bg-bad-soft text-bad' : 'bg-warn-soft text-warn';
  return (
    <p className={`rounded-md px-3 py-2 leading-5 ${colour}`}>
      {text}{' '}
      <a className="font-medium underline underline-offset-2" href={ledger}>
        The ledger
      </a>{' '}
      shows which line caused it.
    </p>
  );
}

function Fact({
  name,
  usd,
  show = showMoneyDown,
}: {
  name: string;
  usd: string;
  show?(usd: string): string;
}) {
  return (
    <div className="min-w-0">
      <dt className="text-muted text-xs leading-4">{name}</dt>
      <dd className="mt-0.5 tabular-nums" title={`$${usd}`}>
        {show(usd)}
      </dd>
    </div>
  );
}
