import { redirect } from 'next/navigation';
import { readForOperator } from '#lib/console/operator';
import { showCall } from '#lib/control/operations/call/operations';

interface CallPageProps {
  params: Promise<{ call: string }>;
}

/** A call of any workspace, found by its id: to its page in the log. */
export default async function CallPage({ params }: CallPageProps) {
  const { id, workspace } = await readForOperator(showCall, { id: (await params).call });
  redirect(`/${workspace}/logs/${id}`);
}
