import { Ellipsis } from 'lucide-react';
import type { ComponentProps } from 'react';
import { Button } from '#components/ui/button';

/** Opens the menu of a key. @param name of the key. */
export function KeyMenuButton({ name, ...props }: ComponentProps<'button'> & { name: string }) {
  return (
    <Button tone="quiet" size="icon" aria-label={`Actions for ${name}`} {...props}>
      <Ellipsis />
    </Button>
  );
}
