import { Columns3 } from 'lucide-react';
import type { ComponentProps } from 'react';
import { Button } from '#components/ui/button';

export function ColumnsButton(props: ComponentProps<'button'>) {
  return (
    <Button {...props}>
      <Columns3 className="text-muted" />
      <span className="max-sm:sr-only">Columns</span>
    </Button>
  );
}
