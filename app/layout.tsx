import type { Metadata, Viewport } from 'next';
import { headers } from 'next/headers';
import type { ReactNode } from 'react';
import { EarlyKeys } from '#components/palette/early-keys';
import { Providers } from '#components/providers';
import { mono, sans } from './fonts';
import './globals.css';
import './tables.css';

export const metadata: Metadata = {
  title: { default: 'Model Gateway', template: '%s · Model Gateway' },
  description: 'One base URL and one API key for every model provider.',
  robots: { index: false },
};

export const viewport: Viewport = {
  themeColor: [
    { media: '(prefers-color-scheme: light)', color: '#f8faf9' },
    { media: '(prefers-color-scheme: dark)', color: '#0b1416' },
  ],
};

export default async function RootLayout({ children }: { children: ReactNode }) {
  // Reading the nonce also makes every page dynamic, which a nonce needs.
  const nonce = (await headers()).get('x-nonce') ?? undefined;
  return (
    <html lang="en" className={`${sans.variable} ${mono.variable}`} suppressHydrationWarning>
      <body className="min-h-dvh font-sans text-sm antialiased">
        <EarlyKeys nonce={nonce} />
        <Providers nonce={nonce}>{children}</Providers>
      </body>
    </html>
  );
}
