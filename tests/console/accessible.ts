import { createRequire } from 'node:module';
import AxeBuilder from '@axe-core/playwright';
import { expect, type Page } from '@playwright/test';

/** The script of axe itself, which its builder would send to the page twice for each analysis. */
const { source }: { source: string } = createRequire(import.meta.resolve('@axe-core/playwright'))('axe-core');

/** Both themes on a phone and on a desk, in an order of few changes. */
const looks = [
  { colorScheme: 'dark', width: 360, whole: true },
  { colorScheme: 'light', width: 360, whole: false },
  { colorScheme: 'light', width: 1280, whole: true },
  { colorScheme: 'dark', width: 1280, whole: false },
] as const;

type Scheme = (typeof looks)[number]['colorScheme'];

const height = 800;
const levels = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
/** What depends on the theme. */
const colours = ['color-contrast', 'link-in-text-block'];
const unchecked = 'data-unchecked';

/**
 * The page as it stands, open dialogs included, is accessible in both themes on a phone and on a desk. Every rule
 * runs once on each width and once in each theme; in the other two looks the rules about colours run, on one element
 * of each look of text that was not seen in that theme before. Stays dark on a desk.
 */
export async function expectAccessibleInEachLook(page: Page): Promise<void> {
  const seen: Record<Scheme, string[]> = { dark: [], light: [] };
  for (const { colorScheme, width, whole } of looks) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height });
    await expect(page.locator('html')).toHaveClass(new RegExp(`\\b${colorScheme}\\b`));
    await settled(page);
    if (!whole) await expectNoViolation(page, { rules: colours, on: await markNew(page, seen[colorScheme]) });
    else {
      await expectNoViolation(page, { levels });
      await markNew(page, seen[colorScheme]);
    }
    await expectNothingWider(page);
  }
}

/** No violation of WCAG 2.2 A and AA that axe can see, and nothing wider than the window. */
export async function expectAccessible(page: Page): Promise<void> {
  await settled(page);
  await expectNoViolation(page, { levels });
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

type Checked =
  | { readonly levels: string[] }
  /** `on`: how many elements are marked. */
  | { readonly rules: string[]; readonly on: number };

async function expectNoViolation(page: Page, checked: Checked): Promise<void> {
  if ('on' in checked && checked.on === 0) return;
  // Once for each document: to read it takes longer than to check most pages.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(source);
  // No page has frames of another origin: the mode that opens a page of its own for each analysis is not needed.
  const axe = new AxeBuilder({ page, axeSource: '0' }).setLegacyMode(true);
  const { violations } = await ('on' in checked
    ? axe
        .include(`[${unchecked}]`)
        .options({ resultTypes: ['violations'] })
        .withRules(checked.rules)
    : axe.options({ resultTypes: ['violations'] }).withTags(checked.levels)
  ).analyze();
  expect(
    violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target.join(' ')).join(', ')}`),
  ).toEqual([]);
}

/**
 * Marks one element with text of each look that is not among those seen, and adds its look to them: what decides about
 * its contrast, which are its colour, size, weight, and the backgrounds behind it.
 * @returns how many are marked.
 */
async function markNew(page: Page, seen: string[]): Promise<number> {
  const found = await page.evaluate(
    ({ known, mark }) => {
      const behind = new Map<Element, string>();
      const backgroundOf = (element: Element): string => {
        const kept = behind.get(element);
        if (kept !== undefined) return kept;
        const { backgroundColor, backgroundImage, opacity } = getComputedStyle(element);
        const own = [backgroundColor, backgroundImage, opacity].join(' ');
        const parent = element.parentElement ? backgroundOf(element.parentElement) : '';
        const all = own === 'rgba(0, 0, 0, 0) none 1' ? parent : `${parent} > ${own}`;
        behind.set(element, all);
        return all;
      };
      for (const element of document.querySelectorAll(`[${mark}]`)) element.removeAttribute(mark);
      const looks = new Set(known);
      let marked = 0;
      const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      while (texts.nextNode()) {
        const element = texts.currentNode.parentElement;
        if (!element || !texts.currentNode.nodeValue?.trim()) continue;
        if (!element.checkVisibility({ visibilityProperty: true })) continue;
        const { color, fontSize, fontWeight, textDecorationLine } = getComputedStyle(element);
        const look = [
          element.localName,
          color,
          fontSize,
          fontWeight,
          textDecorationLine,
          backgroundOf(element),
        ];
        if (looks.has(look.join())) continue;
        looks.add(look.join());
        element.setAttribute(mark, '');
        marked += 1;
      }
      return { looks: [...looks], marked };
    },
    { known: seen, mark: unchecked },
  );
  seen.splice(0, seen.length, ...found.looks);
  return found.marked;
}
