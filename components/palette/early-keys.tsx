declare global {
  interface Window {
    /** Set by `EarlyKeys`: stops recording and returns the keys pressed so far. */
    takeEarlyKeys?: () => KeyboardEvent[];
  }
}

const keepEarlyKeys = `(() => {
  const keys = [];
  let opened = false;
  const keep = (event) => {
    const modified = event.metaKey || event.ctrlKey;
    const opens = modified && !event.altKey && /^k$/i.test(event.key);
    const typed = opened && !modified && !event.altKey && !/^(Tab|F\\d+)$/.test(event.key);
    if (!opens && !typed && event.key !== '?' && event.key !== '/') return;
    if (!document.querySelector('[aria-keyshortcuts~="Control+K"]')) return;
    if (opens) opened = !opened;
    if (opens || typed) event.preventDefault();
    keys.push(event);
  };
  addEventListener('keydown', keep);
  window.takeEarlyKeys = () => {
    removeEventListener('keydown', keep);
    return keys.splice(0);
  };
})()`;

/**
 * Inline script that records shortcuts pressed before hydration, and what is typed after the one that opens the
 * palette. On a page without a palette, it leaves them to the browser.
 */
export function EarlyKeys({ nonce }: { nonce: string | undefined }) {
  return (
    <script nonce={nonce} suppressHydrationWarning>
      {keepEarlyKeys}
    </script>
  );
}

/** Returns the keys that were pressed before the palette listened, in order, and stops recording. */
export function takeEarlyKeys(): readonly KeyboardEvent[] {
  return window.takeEarlyKeys?.() ?? [];
}
