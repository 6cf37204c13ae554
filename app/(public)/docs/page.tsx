import { redirect } from 'next/navigation';
import { guidePages } from '#lib/console/guide/pages';

export default function DocsPage() {
  redirect(`/docs/${guidePages[0].slug}`);
}
