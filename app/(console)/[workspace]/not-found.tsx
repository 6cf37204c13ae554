import { SearchX } from 'lucide-react';
import { NothingHere } from '#components/shell/nothing-here';

export const metadata = { title: 'Not found' };

/** What does not exist in a workspace that the reader may see, or is not for their role: inside the console. */
export default function NotFound() {
  return <NothingHere icon={<SearchX />} />;
}
