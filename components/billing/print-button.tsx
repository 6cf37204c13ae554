'use client';

import { Printer } from 'lucide-react';
import { Button } from '#components/ui/button';

/** Opens the browser's dialog to print or save as PDF. */
export function PrintButton() {
  return (
    <Button size="small" tone="primary" onClick={() => window.print()}>
      <Printer />
      Print or save as PDF
    </Button>
  );
}
