import { SignInAgain } from '#components/account/sign-in-again';
import { classNames } from '#components/ui/class-names';

interface Fault {
  readonly message: string;
  readonly signedOut: boolean;
}

/** Why something was refused, and how to sign in if the session has ended. */
export function FaultText({ fault }: { fault: Fault }) {
  return (
    <>
      {fault.message}
      {fault.signedOut ? <SignInAgain /> : null}
    </>
  );
}

interface FaultLineProps {
  /** null: nothing was refused. */
  fault: Fault | null;
  /** On a background of its own. */
  framed?: boolean;
  className?: string;
}

/** The same as a paragraph that is read aloud when it appears. */
export function FaultLine({ fault, framed = false, className }: FaultLineProps) {
  if (!fault) return null;
  return (
    <p
      role="alert"
      className={classNames('text-bad leading-5', framed && 'rounded-md bg-bad-soft px-3 py-2', className)}
    >
      <FaultText fault={fault} />
    </p>
  );
}
