import { Bookmark } from 'lucide-react';
import type { ComponentProps } from 'react';
import { Button } from '#components/ui/button';

export function ViewButton(props: ComponentProps<'button'>) {
  return (
    <Button {...props}>
      <Bookmark className="text-muted" />
      <span className="max-sm:sr-only">Views</span>
    </Button>
  );
}
