import { expect, type Locator, type Page } from 'playwright/test';

/** The most stops that are walked: rows of a long table are alike. */
const mostStops = 40;
/**
 * A date and time field has a stop for each of its parts and one for its calendar, but only one focus event.
 */
const mostParts = 9;

/**
 * Walks the open dialog, otherwise the page's main part, by Tab: everything focusable is reached once, in
 * visual order, inside the window and with a focus ring, and after the last stop, Tab leaves a page but stays
 * in a dialog.
 * @param whole also the navigation around the main part.
 */
export async function expectWalkByTab(page: Page, whole = false): Promise<void> {
  const stops = await page.evaluate(beginWalk, { whole, mostStops });
  for (let missing = stops, still = 0; missing > 0 && still < mostParts; ) {
    for (let nth = 0; nth < missing; nth += 1) await page.keyboard.press('Tab');
    const left = stops - (await page.evaluate(() => (Reflect.get(window, 'walked') as () => number)()));
    still = left < missing ? 0 : still + 1;
    missing = left;
  }
  // Leaves the last stop, which may have several parts.
  for (let parts = 0; parts < mostParts; parts += 1) {
    await page.keyboard.press('Tab');
    if (await page.evaluate(() => (Reflect.get(window, 'isBehind') as () => Promise<boolean>)())) break;
  }
  const address = new URL(page.url()).pathname;
  const faults = await page.evaluate(() => (Reflect.get(window, 'endWalk') as () => string[])());
  expect([address, ...faults]).toEqual([address]);
}

/** Escape closes the open dialog, and the focus returns to what opened it. */
export async function expectEscapeLeadsBack(page: Page, opener: Locator): Promise<void> {
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(opener).toBeFocused();
}

/** Runs in the page: finds what should be reached, and records what is. @returns the number of stops. */
function beginWalk({ whole, mostStops }: { whole: boolean; mostStops: number }): number {
  const dialogs = [
    ...document.querySelectorAll('[role="dialog"], [role="alertdialog"], [role="menu"]'),
  ].filter((one) => one.checkVisibility());
  const dialog = dialogs.at(-1);
  const root = dialog ?? (whole ? document.body : (document.querySelector('main') ?? document.body));
  const guard = '[data-base-ui-focus-guard]';
  const candidates = `a[href], button, input:not([type="hidden"]), select, textarea, summary, [tabindex]:not(${guard})`;
  const taken = new Set<string>();
  const expected = [...root.querySelectorAll<HTMLElement | SVGElement>(candidates)].filter((one) => {
    if (one.tabIndex < 0 || one.matches(':disabled') || one.closest('[inert]')) return false;
    if (!one.checkVisibility({ visibilityProperty: true })) return false;
    if (!(one instanceof HTMLInputElement) || one.type !== 'radio') return true;
    // A group of radio buttons is a single stop.
    const group = [...document.querySelectorAll<HTMLInputElement>(`input[name="${CSS.escape(one.name)}"]`)];
    if (group.some(({ checked }) => checked)) return one.checked;
    return !taken.has(one.name) && taken.add(one.name) !== undefined;
  });
  const wanted = expected.slice(0, mostStops);
  const isWhole = wanted.length === expected.length;
  const leadsOut = isWhole && dialog === undefined && !whole;
  const isInside = () => root.contains(document.activeElement) && document.activeElement !== document.body;
  const nameOf = (one: Element | undefined) =>
    one === undefined
      ? 'nothing'
      : `<${one.localName}> ${(one.getAttribute('aria-label') ?? one.textContent ?? '').trim().slice(0, 40)}`;
  const faults: string[] = [];
  const walked: Element[] = [];
  /** Everything that had the focus, for the message. */
  const reached: string[] = [];
  const isExpected = (one: EventTarget | null): one is Element =>
    expected.some((candidate) => candidate === one);
  /** Records the next stop; unexpected ones are the browser's own, such as scrollable boxes. */
  const onFocus = (event: FocusEvent) => {
    const one = event.target;
    if (one instanceof Element) reached.push(nameOf(one));
    if (!isExpected(one) || walked.length >= wanted.length) return;
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
    if (!isExpected(event.target) || !walked.includes(event.target)) return;
    const { top, bottom, left, right } = event.target.getBoundingClientRect();
    if (bottom < 0 || top > innerHeight || right < 0 || left > innerWidth)
      faults.push(`outside of the window: ${nameOf(event.target)}`);
  };
  /** Moving up is correct only to the next column, and moving left only further down. */
  const comparePlaces = () => {
    // Sticky elements are compared at their own position.
    for (const one of document.querySelectorAll('*')) if (one.scrollTop > 0) one.scrollTop = 0;
    for (const [nth, one] of wanted.entries()) {
      const next = wanted[nth + 1];
      // A dialog opens on its first field, so its close button is the last stop.
      if (next === undefined || next.getAttribute('aria-label') === 'Close') break;
      const [a, b] = [one.getBoundingClientRect(), next.getBoundingClientRect()];
      const up = b.bottom <= a.top + 2 && b.left < a.right - 2;
      const back = b.right <= a.left + 2 && b.bottom > a.top + 2 && b.top < a.bottom - 2;
      const at = ({ left, top }: DOMRect) => `at ${Math.round(left)},${Math.round(top)}`;
      if (up || back) faults.push(`out of order: ${nameOf(one)} ${at(a)}, then ${nameOf(next)} ${at(b)}`);
    }
  };
  Reflect.set(window, 'walked', () => walked.length);
  /** A dialog's focus guards move the focus on, a moment later. @returns whether the last stop was left. */
  Reflect.set(window, 'isBehind', async () => {
    const onGuard = () => document.activeElement?.matches(guard) === true;
    for (let frames = 0; onGuard() && frames < 30; frames += 1) await new Promise(requestAnimationFrame);
    // If the last stop of a page was replaced when it got the focus, the focus is still on its replacement.
    if (leadsOut) return !isInside();
    return document.activeElement !== wanted.at(-1);
  });
  Reflect.set(window, 'endWalk', () => {
    removeEventListener('focusin', onFocus);
    removeEventListener('focusout', onBlur);
    const wrong = wanted.findIndex((one, at) => walked[at] !== one);
    if (wrong >= 0) {
      const gone = wanted[wrong]?.isConnected ? '' : ', which is gone';
      faults.push(`stop ${wrong + 1} is ${nameOf(walked[wrong])}, not ${nameOf(wanted[wrong])}${gone}`);
      faults.push(`reached: ${reached.join(', ')}`);
    } else if (leadsOut && isInside()) faults.push('nothing leads on behind the last stop');
    else if (dialog !== undefined && isWhole && !isInside()) faults.push('the keyboard leaves the dialog');
    return faults;
  });
  // Before any of them has the focus, because some are replaced then.
  comparePlaces();
  addEventListener('focusin', onFocus);
  addEventListener('focusout', onBlur);
  // Starts at the top of the root.
  const start = root as HTMLElement;
  const had = start.getAttribute('tabindex');
  start.tabIndex = -1;
  start.focus({ preventScroll: true });
  if (had === null) start.removeAttribute('tabindex');
  else start.setAttribute('tabindex', had);
  return wanted.length;
}
