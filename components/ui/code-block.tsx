import { CopyButton } from '#components/ui/copy-button';

interface CodeBlockProps {
  code: string;
  /** What the code is, for the copy button's accessible name. */
  what: string;
}

/** Text to copy and paste elsewhere, with a copy button. */
export function CodeBlock({ code, what }: CodeBlockProps) {
  return (
    <div className="relative min-w-0 rounded-md border bg-sunken text-left">
      <pre className="whitespace-pre-wrap p-3 pr-12 font-mono text-xs leading-5 [overflow-wrap:anywhere]">
        <code>{code}</code>
      </pre>
      <span className="absolute top-1.5 right-1.5 rounded-md bg-sunken">
        <CopyButton value={code} what={what} />
      </span>
    </div>
  );
}
