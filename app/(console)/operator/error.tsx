'use client';

import { WentWrong } from '#components/went-wrong';

/** Error page inside the operator area; the navigation stays. */
export default function OperatorErrorPage({ error, retry }: { error: unknown; retry: () => void }) {
  return (
    <div className="grid max-w-md justify-items-start gap-4 py-10">
      <h1 className="font-semibold text-xl tracking-tight">This page could not be shown</h1>
      <WentWrong error={error} retry={retry} />
    </div>
  );
}
