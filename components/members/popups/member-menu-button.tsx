import { Ellipsis } from 'lucide-react';
import type { ComponentProps } from 'react';
import { Button } from '#components/ui/button';

/** Opens the menu of a member. */
export function MemberMenuButton({ email, ...props }: ComponentProps<'button'> & { email: string }) {
  return (
    <Button tone="quiet" size="icon" aria-label={`Actions for ${email}`} {...props}>
      <Ellipsis />
    </Button>
  );
}
