'use client';

import { Eye, EyeOff } from 'lucide-react';
import { type ComponentProps, useState } from 'react';
import { Button } from '#components/ui/button';
import { Field } from '#components/ui/field';

type PasswordFieldProps = Pick<ComponentProps<typeof Field>, 'label' | 'name' | 'hint' | 'error'> & {
  autoComplete: 'current-password' | 'new-password';
};

/** A password field with a button to show the text; pasting and password managers work. */
export function PasswordField(props: PasswordFieldProps) {
  const [visible, setVisible] = useState(false);
  return (
    <Field
      {...props}
      type={visible ? 'text' : 'password'}
      required
      maxLength={1024}
      suffix={
        <Button
          tone="quiet"
          size="smallIcon"
          aria-label={visible ? 'Hide password' : 'Show password'}
          aria-pressed={visible}
          onClick={() => setVisible(!visible)}
        >
          {visible ? <EyeOff /> : <Eye />}
        </Button>
      }
    />
  );
}
