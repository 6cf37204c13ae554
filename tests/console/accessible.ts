import { createRequire } from 'node:module';
import AxeBuilder from '@axe-core/playwright';
import { expect, type Page } from '@playwright/test';
import { expectWalkByTab } from '#tests/console/walk/by-tab';

/** The script of axe itself, which its builder would send to the page twice for each analysis. */
const { source }: { source: string } = createRequire(import.meta.resolve('@axe-core/playwright'))('axe-core');

/** Both themes on a phone and on a desk, in an order of few changes. */
const looks = [
  { colorScheme: 'dark', width: 360 },
  { colorScheme: 'light', width: 360 },
  { colorScheme: 'light', width: 1280 },
  { colorScheme: 'dark', width: 1280 },
] as const;

const height = 800;
const levels = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
/** What depends on the theme, and what on the width. */
const ofColours = ['color-contrast', 'link-in-text-block'];
const ofSizes = ['target-size', 'scrollable-region-focusable'];
const marks = { newLook: 'data-new-look', newHere: 'data-new-here' };

/**
 * The page as it stands, open dialogs included, is accessible in both themes on a phone and on a desk. Every rule runs
 * in the first of these looks; in the others what they may change: on another width the rules about colours and sizes; in
 * another theme those about colours, on one element of each look of text that was not seen in that theme; and every
 * rule on elements that were hidden before. Then it is walked by Tab. Stays dark on a desk.
 */
export async function expectAccessibleInEachLook(page: Page): Promise<void> {
  const seen = { dark: [] as string[], light: [] as string[] };
  for (const [at, { colorScheme, width }] of looks.entries()) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height });
    await expect(page.locator('html')).toHaveClass(new RegExp(`\\b${colorScheme}\\b`));
    await settled(page);
    const newWidth = width !== looks[at - 1]?.width;
    const found = await markNew(page, seen[colorScheme], at === 0);
    seen[colorScheme] = found.looks;
    if (at === 0) await expectNoViolation(page, (axe) => axe.withTags(levels));
    else if (newWidth) await expectNoViolation(page, (axe) => axe.withRules([...ofColours, ...ofSizes]));
    if (found.newLooks > 0 && !newWidth) {
      await expectNoViolation(page, (axe) => axe.include(`[${marks.newLook}]`).withRules(ofColours));
    }
    if (found.newHere > 0) {
      await expectNoViolation(page, (axe) => axe.include(`[${marks.newHere}]`).withTags(levels));
    }
    await expectNothingWider(page);
  }
  await expectWalkByTab(page);
}

/** No violation of WCAG 2.2 A and AA that axe can see, and nothing wider than the window. */
export async function expectAccessible(page: Page): Promise<void> {
  await settled(page);
  await expectNoViolation(page, (axe) => axe.withTags(levels));
  await expectNothingWider(page);
}

/** Nothing is wider than the window. */
export async function expectNothingWider(page: Page): Promise<void> {
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  expect(overflow).toBeLessThanOrEqual(0);
}

/** Colours are measured as they are once everything has faded in. */
async function settled(page: Page): Promise<void> {
  await page.evaluate(() => Promise.allSettled(document.getAnimations().map((running) => running.finished)));
}

async function expectNoViolation(page: Page, narrow: (axe: AxeBuilder) => AxeBuilder): Promise<void> {
  // Once for each document: to read it takes longer than to check most pages.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(source);
  // No page has frames of another origin: the mode that opens a page of its own for each analysis is not needed.
  const axe = new AxeBuilder({ page, axeSource: '0' }).setLegacyMode(true);
  const { violations } = await narrow(axe.options({ resultTypes: ['violations'] })).analyze();
  expect(
    violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target.join(' ')).join(', ')}`),
  ).toEqual([]);
}

interface New {
  /** Those known and found. */
  readonly looks: string[];
  /** How many elements are marked for each reason. */
  readonly newLooks: number;
  readonly newHere: number;
}

/**
 * Marks one element with text of each look that is not known (what decides about its contrast: its colour, size, weight
 * and the backgrounds behind it), and the outermost elements that are shown for the first time since `fresh`.
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
