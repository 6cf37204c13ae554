import { expect, type Page } from '@playwright/test';

/** Stops that are walked at most: rows of a long table are alike. */
const mostStops = 90;

/**
 * Walks what stands in front (the open dialog, else the page's main part) by Tab: everything that takes the keyboard is
 * reached once, in the order in which it is seen, inside the window and with a ring, and the way goes on behind the
 * last one: out of a page, round in a dialog.
 * @param whole also the navigation around the main part.
 */
export async function expectWalkByTab(page: Page, whole = false): Promise<void> {
  const stops = await page.evaluate(beginWalk, { whole, mostStops });
  // A box for a time has a stop for each of its parts, of which the page hears once.
  for (let missing = stops, tries = 0; missing > 0 && tries < 4; tries += 1) {
    for (let nth = 0; nth < missing; nth += 1) await page.keyboard.press('Tab');
    missing = stops - (await page.evaluate(() => (Reflect.get(window, 'walked') as () => number)()));
  }
  await page.keyboard.press('Tab');
  const address = new URL(page.url()).pathname;
  const faults = await page.evaluate(() => (Reflect.get(window, 'endWalk') as () => string[])());
  expect([address, ...faults]).toEqual([address]);
}

/** In the page: looks what should be reached, and notes what is. @returns how many stops there are. */
function beginWalk({ whole, mostStops }: { whole: boolean; mostStops: number }): number {
  const dialogs = [
    ...document.querySelectorAll('[role="dialog"], [role="alertdialog"], [role="menu"]'),
  ].filter((one) => one.checkVisibility());
  const dialog = dialogs.at(-1);
  const root = dialog ?? (whole ? document.body : (document.querySelector('main') ?? document.body));
  const guard = '[data-base-ui-focus-guard]';
  const candidates = `a[href], button, input:not([type="hidden"]), select, textarea, summary, [tabindex]:not(${guard})`;
  const taken = new Set<string>();
  const expected = [...root.querySelectorAll<HTMLElement>(candidates)].filter((one) => {
    if (one.tabIndex < 0 || one.matches(':disabled') || one.closest('[inert]')) return false;
    if (!one.checkVisibility({ visibilityProperty: true })) return false;
    if (!(one instanceof HTMLInputElement) || one.type !== 'radio') return true;
    // Of a group of radio buttons one is a stop.
    const group = [...document.querySelectorAll<HTMLInputElement>(`input[name="${CSS.escape(one.name)}"]`)];
    if (group.some(({ checked }) => checked)) return one.checked;
    return !taken.has(one.name) && taken.add(one.name) !== undefined;
  });
  const wanted = expected.slice(0, mostStops);
  const nameOf = (one: Element | undefined) =>
    one === undefined
      ? 'nothing'
      : `<${one.localName}> ${(one.getAttribute('aria-label') ?? one.textContent ?? '').trim().slice(0, 40)}`;
  const faults: string[] = [];
  const walked: HTMLElement[] = [];
  /** The stop that comes next: others than those expected are the browser's own, such as boxes that scroll. */
  const onFocus = (event: FocusEvent) => {
    const one = event.target;
    if (!(one instanceof HTMLElement) || !expected.includes(one) || walked.length >= wanted.length) return;
    walked.push(one);
    const around = [one, one.parentElement, one.nextElementSibling, one.previousElementSibling];
    const ring = around.some((part) => {
      if (part === null) return false;
      const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(part);
      return (outlineStyle !== 'none' && Number.parseFloat(outlineWidth) > 0) || boxShadow !== 'none';
    });
    if (!ring) faults.push(`no ring: ${nameOf(one)}`);
  };
  const onBlur = (event: FocusEvent) => {
    if (!(event.target instanceof HTMLElement) || !expected.includes(event.target)) return;
    const { top, bottom, left, right } = event.target.getBoundingClientRect();
    if (bottom < 0 || top > innerHeight || right < 0 || left > innerWidth)
      faults.push(`outside of the window: ${nameOf(event.target)}`);
  };
  /** Up is right only to the next column, and left only further down. */
  const comparePlaces = () => {
    for (const [at, one] of wanted.entries()) {
      const next = wanted[at + 1];
      // A dialog opens on its first field, so that its cross is the last stop.
      if (next === undefined || next.getAttribute('aria-label') === 'Close') break;
      const [a, b] = [one.getBoundingClientRect(), next.getBoundingClientRect()];
      const up = b.bottom <= a.top + 2 && b.left < a.right - 2;
      const back = b.right <= a.left + 2 && b.bottom > a.top + 2 && b.top < a.bottom - 2;
      if (up || back) faults.push(`out of order: ${nameOf(one)}, then ${nameOf(next)}`);
    }
  };
  Reflect.set(window, 'walked', () => walked.length);
  Reflect.set(window, 'endWalk', () => {
    removeEventListener('focusin', onFocus);
    removeEventListener('focusout', onBlur);
    const wrong = wanted.findIndex((one, at) => walked[at] !== one);
    if (wrong >= 0)
      faults.push(`stop ${wrong + 1} is ${nameOf(walked[wrong])}, not ${nameOf(wanted[wrong])}`);
    else if (wanted.length === expected.length) {
      const inside = root.contains(document.activeElement) && document.activeElement !== document.body;
      if (dialog === undefined && !whole && inside) faults.push('nothing leads on behind the last stop');
      if (dialog !== undefined && !inside) faults.push('the keyboard leaves the dialog');
    }
    comparePlaces();
    return faults;
  });
  addEventListener('focusin', onFocus);
  addEventListener('focusout', onBlur);
  // From the top of the root on.
  const start = root as HTMLElement;
  const had = start.getAttribute('tabindex');
  start.tabIndex = -1;
  start.focus({ preventScroll: true });
  if (had === null) start.removeAttribute('tabindex');
  else start.setAttribute('tabindex', had);
  return wanted.length;
}
