import Link from 'next/link';
import { buttonStyle } from '#components/ui/button';

interface FundsSourceProps {
  /** URL of the billing page. */
  billing: string;
  /** Whether this gateway accepts payments. */
  payments: boolean;
  /** Whether the current user's role may pay. */
  pays: boolean;
}

/** How a new workspace gets funds on this gateway. */
export function FundsSource({ billing, payments, pays }: FundsSourceProps) {
  if (!payments) return <>Contact your gateway administrator to have credit added.</>;
  if (!pays) return <>Ask an owner, admin or billing member of this workspace to add funds.</>;
  return (
    <div className="grid justify-items-start gap-3">
      <p>Calls are paid from the balance of the workspace. Without funds they are refused with 402.</p>
      <Link href={billing} className={buttonStyle({ tone: 'primary' })}>
        Add funds
      </Link>
    </div>
  );
}
