import { expect, type Locator, type Page } from 'playwright/test';

/** Stops that are walked at most: rows of a long table are alike. */
const mostStops = 40;
/** A box for a moment has a stop for each of its parts and one for its calendar, of which the page hears once. */
const mostParts = 9;

/**
 * Walks what stands in front (the open dialog, else the page's main part) by Tab: everything that takes the keyboard is
 * reached once, in the order in which it is seen, inside the window and with a ring, and the way goes on behind the
 * last one: out of a page, round in a dialog.
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
  // Out of the last stop, which may have parts of its own.
  for (let parts = 0; parts < mostParts; parts += 1) {
    await page.keyboard.press('Tab');
    if (await page.evaluate(() => (Reflect.get(window, 'isBehind') as () => Promise<boolean>)())) break;
  }
  const address = new URL(page.url()).pathname;
  const faults = await page.evaluate(() => (Reflect.get(window, 'endWalk') as () => string[])());
  expect([address, ...faults]).toEqual([address]);
}

/** Escape closes the dialog in front, and the keyboard is back at what opened it. */
export async function expectEscapeLeadsBack(page: Page, opener: Locator): Promise<void> {
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(opener).toBeFocused();
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
  const expected = [...root.querySelectorAll<HTMLElement | SVGElement>(candidates)].filter((one) => {
    if (one.tabIndex < 0 || one.matches(':disabled') || one.closest('[inert]')) return false;
    if (!one.checkVisibility({ visibilityProperty: true })) return false;
    if (!(one instanceof HTMLInputElement) || one.type !== 'radio') return true;
    // Of a group of radio buttons one is a stop.
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
  /** All that had the focus, for the message. */
  const reached: string[] = [];
  const isExpected = (one: EventTarget | null): one is Element =>
    expected.some((candidate) => candidate === one);
  /** The stop that comes next: others than those expected are the browser's own, such as boxes that scroll. */
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
  /** Up is right only to the next column, and left only further down. */
  const comparePlaces = () => {
    // What sticks to an edge is compared where it stands by itself.
    for (const one of document.querySelectorAll('*')) if (one.scrollTop > 0) one.scrollTop = 0;
    for (const [nth, one] of wanted.entries()) {
      const next = wanted[nth + 1];
      // A dialog opens on its first field, so that its cross is the last stop.
      if (next === undefined || next.getAttribute('aria-label') === 'Close') break;
      const [a, b] = [one.getBoundingClientRect(), next.getBoundingClientRect()];
      const up = b.bottom <= a.top + 2 && b.left < a.right - 2;
      const back = b.right <= a.left + 2 && b.bottom > a.top + 2 && b.top < a.bottom - 2;
      const at = ({ left, top }: DOMRect) => `at ${Math.round(left)},${Math.round(top)}`;
      if (up || back) faults.push(`out of order: ${nameOf(one)} ${at(a)}, then ${nameOf(next)} ${at(b)}`);
    }
  };
  Reflect.set(window, 'walked', () => walked.length);
  /** A dialog's guards lead on by themselves, a moment later. @returns whether the last stop is left. */
  Reflect.set(window, 'isBehind', async () => {
    const onGuard = () => document.activeElement?.matches(guard) === true;
    for (let frames = 0; onGuard() && frames < 30; frames += 1) await new Promise(requestAnimationFrame);
    // On a page whose last stop was put in the place of a lighter one, that one is not left yet.
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
  // Before any of them is focused: some are put in the place of a lighter one then.
  comparePlaces();
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
