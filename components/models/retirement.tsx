import { Badge } from '#components/ui/badge';

/** The last day on which a model is served; nothing where none is known. @param past whether it is over. */
export function Retirement({ day, past }: { day: string | null; past: boolean }) {
  if (day === null) return null;
  const title = past
    ? 'No provider serves it any more, and calls are refused. Choose another model.'
    : 'After that day (UTC) no provider serves it. Choose another model in time.';
  return (
    <Badge tone="warn" title={title}>
      {past ? 'Retired' : 'Retires'} {day}
    </Badge>
  );
}
