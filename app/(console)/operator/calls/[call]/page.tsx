import { redirect } from 'next/navigation';
import { readForOperator } from '#lib/console/operator';
import { showCall } from '#lib/control/operations/call/operations';

interface CallPageProps {
  params: Promise<{ call: string }>;
}

/** Redirects to the log page of a call of any workspace, by its id. */
export default async function CallPage({ params }: CallPageProps) {
  const { id, workspace } = await readForOperator(showCall, { id: (await params).call });
  redirect(`/${workspace}/logs/${id}`);
}
