import { ChevronDown } from 'lucide-react';
import { Badge } from '#components/ui/badge';
import type { ApiField, ApiGroup, ApiOperation } from '#lib/console/guide/api';

/** The operations of the management API, collapsed and grouped by subject. */
export function ApiOperations({ groups }: { groups: readonly ApiGroup[] }) {
  return groups.map(({ name, operations }) => (
    <section key={name} aria-labelledby={`api-${name}`} className="grid min-w-0 gap-2">
      <h3 id={`api-${name}`} className="mt-2 scroll-mt-20 font-semibold capitalize">
        {name.replaceAll('-', ' ')}
      </h3>
      <div className="min-w-0 rounded-lg border bg-surface">
        {operations.map((operation) => (
          <Operation key={operation.id} operation={operation} />
        ))}
      </div>
    </section>
  ));
}

function Operation({
  operation: { id, method, path, summary, who, takes, answers },
}: {
  operation: ApiOperation;
}) {
  return (
    <details id={id} className="group min-w-0 scroll-mt-20 border-b last:border-b-0">
      <summary className="relative grid gap-1 py-2.5 pr-10 pl-4 hover:bg-hover/45">
        <ChevronDown
          aria-hidden
          className="absolute top-3 right-4 size-4 text-muted transition-transform group-open:rotate-180"
        />
        <span className="flex min-w-0 items-baseline gap-2">
          <Badge
            className="w-15 shrink-0 justify-center"
            tone={method === 'GET' ? 'info' : method === 'DELETE' ? 'bad' : 'accent'}
          >
            {method}
          </Badge>
          <code className="min-w-0 font-mono text-xs [overflow-wrap:anywhere]">{path}</code>
        </span>
        <span className="text-muted leading-5">{summary}</span>
      </summary>
      <div className="grid min-w-0 gap-3 border-t bg-sunken/40 px-4 py-3">
        <p className="text-muted text-xs">{who}</p>
        <Fields title="Request" fields={takes} />
        <Fields title="Response" fields={answers} />
      </div>
    </details>
  );
}

function Fields({ title, fields }: { title: string; fields: readonly ApiField[] }) {
  if (fields.length === 0) return null;
  return (
    <div className="grid min-w-0 gap-1">
      <p className="font-medium text-xs">{title}</p>
      <dl className="grid min-w-0 gap-x-4 gap-y-1.5 sm:grid-cols-[minmax(8rem,14rem)_minmax(0,1fr)]">
        {fields.map(({ name, place, required, type, description }) => (
          <div key={`${place} ${name}`} className="contents">
            <dt className="min-w-0">
              <code className="font-mono text-xs [overflow-wrap:anywhere]">{name}</code>
              {place === 'answer' ? null : (
                <span className="text-muted text-xs">
                  {' '}
                  {place}
                  {required ? ', required' : ''}
                </span>
              )}
            </dt>
            <dd className="min-w-0 text-muted text-xs leading-5 [overflow-wrap:anywhere] max-sm:mb-2">
              {type}
              {description ? `. ${description}` : ''}
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
