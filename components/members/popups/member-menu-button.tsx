import { Ellipsis } from 'lucide-react';
import type { ComponentProps } from 'react';
import { Button } from '#components/ui/button';

export function MemberMenuButton({ email, ...props }: ComponentProps<'button'> & { email: string }) {
  return (
    <Button tone="quiet" size="icon" aria-label={`Actions for ${email}`} {...props}>
      <Ellipsis />
    </Button>
  );
}
