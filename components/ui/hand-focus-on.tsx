const stops = 'a[href], button, input:not([type="hidden"]), select, textarea, summary';

/**
 * Moves the focus out of what a pressed button is about to remove, so that it is not lost: of an item (`data-item`) to
 * the button that removes the next one or the one before (`data-removes`), else to what comes next on the page.
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
