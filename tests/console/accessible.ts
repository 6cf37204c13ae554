import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, type Page } from 'playwright/test';
import { expectWalkByTab } from '#tests/console/walk/by-tab';

/**
 * axe itself, which is called once per look: its builder would make six calls to the page for each analysis.
 */
const fromBuilder = createRequire(import.meta.resolve('@axe-core/playwright'));
const source = `${readFileSync(fromBuilder.resolve('axe-core/axe.min.js'), 'utf8')};0`;

/** Both themes on a phone and on a desktop, in an order with few changes. */
const looks = [
  { colorScheme: 'dark', width: 360 },
  { colorScheme: 'light', width: 360 },
  { colorScheme: 'light', width: 1280 },
  { colorScheme: 'dark', width: 1280 },
] as const;

const height = 800;
const levels = {
  type: 'tag',
  values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
} as const;
/** Rules that depend on the theme, and rules that depend on the width. */
const ofColours = ['color-contrast', 'link-in-text-block'];
const ofSizes = ['target-size', 'scrollable-region-focusable'];
const marks = { newLook: 'data-new-look', newHere: 'data-new-here' };

/**
 * The current page, including open dialogs, is accessible in both themes on a phone and on a desktop. Every
 * rule runs in the first look. In the others, only what may have changed is checked: at another width, the
 * rules about colors and sizes; in another theme, those about colors, on one element of each look of text
 * that was not seen in that theme yet; and every rule on elements that were hidden before. Then the page is
 * walked by Tab. The page stays dark, on a desktop.
 */
export async function expectAccessibleInEachLook(page: Page): Promise<void> {
  const seen = { dark: [] as string[], light: [] as string[] };
  for (const [at, { colorScheme, width }] of looks.entries()) {
    const before = looks[at - 1];
    const newWidth = width !== before?.width;
    if (colorScheme !== before?.colorScheme) await page.emulateMedia({ colorScheme });
    if (newWidth) await page.setViewportSize({ width, height });
    await settled(page, colorScheme);
    const found = await markNew(page, seen[colorScheme], at === 0);
    seen[colorScheme] = found.looks;
    const asked: Asked[] = [];
    if (at === 0) asked.push({ rules: levels });
    else if (newWidth) asked.push({ rules: { type: 'rule', values: [...ofColours, ...ofSizes] } });
    if (found.newLooks > 0 && !newWidth) {
      asked.push({ within: `[${marks.newLook}]`, rules: { type: 'rule', values: ofColours } });
    }
    if (found.newHere > 0) asked.push({ within: `[${marks.newHere}]`, rules: levels });
    await expectNoViolation(page, asked);
  }
  await expectWalkByTab(page);
}

/** axe finds no violation of WCAG 2.2 A and AA or of its best practices, whatever their impact, and nothing is wider than the window. */
export async function expectAccessible(page: Page): Promise<void> {
  await settled(page);
  await expectNoViolation(page, [{ rules: levels }]);
}

export async function expectNothingWider(page: Page): Promise<void> {
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  expect(overflow).toBeLessThanOrEqual(0);
}

/** Waits until the page has applied a theme and everything has faded in, so that colors are final. */
async function settled(page: Page, theme = ''): Promise<void> {
  const shown = await page.evaluate(async (theme) => {
    const frame = () => new Promise(requestAnimationFrame);
    const lateMs = performance.now() + 120_000;
    const { classList } = document.documentElement;
    while (theme !== '' && !classList.contains(theme) && performance.now() < lateMs) await frame();
    // Changes of the width by script are done in the second frame.
    await frame();
    await frame();
    await Promise.allSettled(document.getAnimations().map((running) => running.finished));
    return theme === '' || classList.contains(theme) ? theme : classList.value;
  }, theme);
  expect(shown).toBe(theme);
}

/** The input of axe: rules, for the whole page or within the elements of a selector. */
interface Asked {
  readonly within?: string;
  readonly rules: { readonly type: 'tag' | 'rule'; readonly values: readonly string[] };
}

/** The result of axe, whose script has no types here. */
interface Axe {
  run(
    context: Document | { readonly include: readonly string[][] },
    options: { readonly runOnly: Asked['rules']; readonly resultTypes: readonly string[] },
  ): Promise<{ violations: { id: string; nodes: { target: string[]; failureSummary: string }[] }[] }>;
}

/** axe finds no violation of these rules, nothing is wider than the window, and every column of a table has a head. */
async function expectNoViolation(page: Page, asked: readonly Asked[]): Promise<void> {
  // Once per document: reading it takes longer than checking most pages.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(source);
  const faults = await page.evaluate(async (asked) => {
    const axe = Reflect.get(window, 'axe') as Axe;
    const found: string[] = [];
    for (const { within, rules } of asked) {
      const { violations } = await axe.run(within === undefined ? document : { include: [[within]] }, {
        runOnly: rules,
        resultTypes: ['violations'],
      });
      for (const { id, nodes } of violations) {
        const [first] = nodes;
        found.push(
          `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}: ${first?.failureSummary}`,
        );
      }
    }
    const overflow = document.documentElement.scrollWidth - window.innerWidth;
    if (overflow > 0) found.push(`wider than the window by ${overflow}`);
    const widthOf = (row: HTMLTableRowElement) =>
      [...row.cells].reduce((sum, { colSpan }) => sum + colSpan, 0);
    for (const { tHead, tBodies } of document.querySelectorAll('table')) {
      const [heads, cells] = [tHead?.rows[0], tBodies[0]?.rows[0]];
      if (heads && cells && widthOf(heads) !== widthOf(cells))
        found.push(`not a head for each cell: ${heads.textContent}`);
    }
    return found;
  }, asked);
  expect(faults).toEqual([]);
}

interface New {
  /** Looks that were known or are new. */
  readonly looks: string[];
  /** How many elements are marked for each reason. */
  readonly newLooks: number;
  readonly newHere: number;
}

/**
 * Marks one element with text of each new look (what determines its contrast: its color, size, weight and the
 * backgrounds behind it), and the outermost elements that are shown for the first time since `fresh`.
 */
async function markNew(page: Page, known: string[], fresh: boolean): Promise<New> {
  return page.evaluate(
    ({ known, fresh, marks }) => {
      const shownBefore: WeakSet<Element> = (!fresh && Reflect.get(window, 'shownBefore')) || new WeakSet();
      Reflect.set(window, 'shownBefore', shownBefore);
      const backgrounds = new Map<Element, string>();
      const behind = (element: Element): string => {
        const kept = backgrounds.get(element);
        if (kept !== undefined) return kept;
        const { backgroundColor, backgroundImage, opacity } = getComputedStyle(element);
        const own = [backgroundColor, backgroundImage, opacity].join(' ');
        const parent = element.parentElement ? behind(element.parentElement) : '';
        const all = own === 'rgba(0, 0, 0, 0) none 1' ? parent : `${parent} > ${own}`;
        backgrounds.set(element, all);
        return all;
      };
      const looks = new Set(known);
      const newHere = new Set<Element>();
      let newLooks = 0;
      for (const element of document.body.querySelectorAll('*')) {
        for (const mark of Object.values(marks)) element.removeAttribute(mark);
        if (!element.checkVisibility({ visibilityProperty: true })) continue;
        if (!shownBefore.has(element)) newHere.add(element);
        const text = [...element.childNodes].some((node) => node.nodeType === 3 && node.nodeValue?.trim());
        if (!text) continue;
        const { color, fontSize, fontWeight, textDecorationLine } = getComputedStyle(element);
        const own = [element.localName, color, fontSize, fontWeight, textDecorationLine, behind(element)];
        const look = own.join();
        if (looks.has(look)) continue;
        looks.add(look);
        element.setAttribute(marks.newLook, '');
        newLooks += 1;
      }
      const outermost = [...newHere].filter((one) => !one.parentElement || !newHere.has(one.parentElement));
      if (!fresh) for (const element of outermost) element.setAttribute(marks.newHere, '');
      for (const element of newHere) shownBefore.add(element);
      return { looks: [...looks], newLooks, newHere: fresh ? 0 : outermost.length };
    },
    { known, fresh, marks },
  );
}
