import { notFound, redirect } from 'next/navigation';
import { operatorDestinations, operatorHref } from '#components/shell/operator-navigation';
import { requireOperator } from '#lib/console/operator';

/** Redirects to the first page of the area. */
export default async function OperatorPage() {
  await requireOperator();
  const [first] = operatorDestinations.flatMap(({ pages }) => pages);
  if (!first) notFound();
  redirect(operatorHref(first.path));
}
