import { Badge } from '#components/ui/badge';

/** From when on a model is no longer served; nothing where no day is known. */
export function Retirement({ day }: { day: string | null }) {
  if (day === null) return null;
  return (
    <Badge
      tone="warn"
      title="From that day on its providers no longer serve it. Choose another model in time."
    >
      Retires {day}
    </Badge>
  );
}
