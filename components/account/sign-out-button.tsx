'use client';

import { leave } from '#components/account/leave';
import { Button } from '#components/ui/button';

export function SignOutButton() {
  return <Button onClick={() => void leave()}>Sign out</Button>;
}
