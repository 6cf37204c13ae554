declare global {
  interface Window {
    /** Set by `EarlyKeys`: ends the keeping and returns what was pressed until then. */
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
 * Inline script that keeps the shortcuts which are pressed before the scripts of the page are there. A page without a
 * palette leaves them to the browser.
 */
export function EarlyKeys({ nonce }: { nonce: string | undefined }) {
  return (
    <script nonce={nonce} suppressHydrationWarning>
      {keepEarlyKeys}
    </script>
  );
}

/** The shortcuts that were pressed before the palette listened, in their order; ends their keeping. */
export function takeEarlyKeys(): readonly KeyboardEvent[] {
  return window.takeEarlyKeys?.() ?? [];
}
