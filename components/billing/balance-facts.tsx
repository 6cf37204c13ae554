import { Section } from '#components/section';
import { showMoney } from '#lib/console/show/money';

interface BalanceFactsProps {
  /** Dollars as decimal strings. */
  balance: string;
  credit: string;
  held: string;
  available: string;
}

/** What the workspace can spend, and of what it is made. */
export function BalanceFacts({ balance, credit, held, available }: BalanceFactsProps) {
  const short = balance.startsWith('-');
  return (
    <Section title="Balance">
      <div className="grid gap-4 p-4">
        <p>
          <span className="block text-muted text-xs">Available now</span>
          <span className="font-semibold text-2xl tabular-nums tracking-tight" title={`$${available}`}>
            {showMoney(available)}
          </span>
        </p>
        <dl className="grid grid-cols-3 gap-3 border-t pt-3">
          <Fact name="Balance" usd={balance} />
          <Fact name="Credit" usd={credit} />
          <Fact name="Held by running calls" usd={held} />
        </dl>
        {short ? (
          <p className="rounded-md bg-bad-soft px-3 py-2 text-bad leading-5">
            The balance is below zero: a refund, a dispute or a call took more than was left. Calls are
            refused with 402 until it is covered; add at least {showMoney(balance.slice(1))}.
          </p>
        ) : null}
      </div>
    </Section>
  );
}

function Fact({ name, usd }: { name: string; usd: string }) {
  return (
    <div className="min-w-0">
      <dt className="text-muted text-xs leading-4">{name}</dt>
      <dd className="mt-0.5 tabular-nums" title={`$${usd}`}>
        {showMoney(usd)}
      </dd>
    </div>
  );
}
