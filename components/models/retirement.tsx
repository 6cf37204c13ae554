import { Badge } from '#components/ui/badge';

/** The last day a model is served; nothing if unknown. @param past whether that day is over. */
export function Retirement({ day, past }: { day: string | null; past: boolean }) {
  if (day === null) return null;
  const title = past
    ? 'No provider serves this model any more, and calls to it are refused. Choose another model.'
    : 'No provider serves this model after that day (UTC). Switch to another model before then.';
  return (
    <Badge tone="warn" title={title}>
      {past ? 'Retired' : 'Retires'} {day}
    </Badge>
  );
}
