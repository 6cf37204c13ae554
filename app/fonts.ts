import localFont from 'next/font/local';

/** A page keeps its first font: if text changed its width while loading, it would move the content below. */
export const sans = localFont({
  src: '../node_modules/geist/dist/fonts/geist-sans/Geist-Variable.woff2',
  variable: '--font-geist-sans',
  weight: '100 900',
  display: 'optional',
});

/** Only for code: loaded where there is code, so that it does not delay the first paint of every page. */
export const mono = localFont({
  src: '../node_modules/geist/dist/fonts/geist-mono/GeistMono-Variable.woff2',
  variable: '--font-geist-mono',
  weight: '100 900',
  display: 'swap',
  preload: false,
  adjustFontFallback: false,
  fallback: ['ui-monospace', 'SFMono-Regular', 'Menlo', 'Liberation Mono', 'DejaVu Sans Mono', 'monospace'],
});
