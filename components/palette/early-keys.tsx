declare global {
  interface Window {
    /** Set by `EarlyKeys`: stops recording and returns the keys pressed so far. */
    takeEarlyKeys?: () => KeyboardEvent[];
  }
}

const keepEarlyKeys = `(() => {
  const keys = [];
  const keep = (event) => {
    const opens = (event.metaKey || event.ctrlKey) && !event.altKey && /^k$/i.test(event.key);
    if (!opens && event.key !== '?' && event.key !== '/') return;
    if (!document.querySelector('[aria-keyshortcuts~="Control+K"]')) return;
    if (opens) event.preventDefault();
    keys.push(event);
  };
  addEventListener('keydown', keep);
  window.takeEarlyKeys = () => {
    removeEventListener('keydown', keep);
    return keys.splice(0);
  };
})()`;

/**
 * Inline script that records shortcuts pressed before hydration. On a page without a palette, it leaves them
 * to the browser.
 */
export function EarlyKeys({ nonce }: { nonce: string | undefined }) {
  return (
    <script nonce={nonce} suppressHydrationWarning>
      {keepEarlyKeys}
    </script>
  );
}

/** Returns the shortcuts that were pressed before the palette listened, in order, and stops recording. */
export function takeEarlyKeys(): readonly KeyboardEvent[] {
  return window.takeEarlyKeys?.() ?? [];
}
