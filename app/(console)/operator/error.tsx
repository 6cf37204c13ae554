'use client';

import { WentWrong } from '#components/went-wrong';

/** The page of the operator area that failed; the way to the other pages stays. */
export default function OperatorErrorPage({ error, retry }: { error: unknown; retry: () => void }) {
  return (
    <div className="grid max-w-md justify-items-start gap-4 py-10">
      <h1 className="font-semibold text-xl tracking-tight">This page could not be shown</h1>
      <WentWrong error={error} retry={retry} />
    </div>
  );
}
