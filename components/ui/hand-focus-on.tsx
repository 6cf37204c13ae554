const stops = 'a[href], button, input:not([type="hidden"]), select, textarea, summary';

/**
 * Moves the focus out of what a clicked button is about to remove: from an item (`data-item`) to the remove
 * button (`data-removes`) of the next or previous one, or else to the next control on the page.
 */
export function handFocusOn(button: HTMLElement): void {
  const item = button.closest('[data-item]') ?? button;
  const others = [item.nextElementSibling, item.previousElementSibling];
  const other = others.find((one) => one?.matches('[data-item]'));
  const next = other?.querySelector<HTMLElement>('[data-removes]') ?? stopAfter(item);
  next?.focus();
}

function stopAfter(item: Element): HTMLElement | undefined {
  return [...document.querySelectorAll<HTMLElement>(stops)].find(
    (one) =>
      item.compareDocumentPosition(one) === Node.DOCUMENT_POSITION_FOLLOWING &&
      one.tabIndex >= 0 &&
      one.checkVisibility({ visibilityProperty: true }) &&
      !one.matches(':disabled'),
  );
}
