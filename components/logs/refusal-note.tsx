import { ArrowRight, Lightbulb } from 'lucide-react';
import Link from 'next/link';

interface RefusalNoteProps {
  help: { readonly text: string; readonly page: string | null };
  workspace: string;
}

/** What to do about a refusal, with the page that fixes it. */
export function RefusalNote({ help, workspace }: RefusalNoteProps) {
  return (
    <p className="flex flex-wrap items-center gap-x-3 gap-y-1 rounded-lg bg-warn-soft px-4 py-2.5 text-warn">
      <Lightbulb aria-hidden className="size-4 shrink-0" />
      <span className="min-w-0 flex-1 basis-60">{help.text}</span>
      {help.page === 'keys' ? (
        <Link
          href={`/${workspace}/keys`}
          className="inline-flex items-center gap-1 font-medium underline underline-offset-2"
        >
          API keys
          <ArrowRight aria-hidden className="size-3.5" />
        </Link>
      ) : null}
    </p>
  );
}
