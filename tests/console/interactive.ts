import type { Page } from 'playwright/test';

const controls = 'button, input:not([type="hidden"]), select, textarea, [role="combobox"], [tabindex="0"]';

/**
 * Makes `goto` and `reload` of a page wait until React has attached itself to every control that the server rendered:
 * a press or a focus before that may be heard by nobody. A visit that asks for less than a loaded page (`waitUntil`)
 * stays as it is.
 */
export function waitForScripts(page: Page): void {
  const [goto, reload] = [page.goto.bind(page), page.reload.bind(page)];
  const ready = () => page.waitForFunction(isInteractive, controls, { timeout: 120_000 });
  page.goto = async (url, options) => {
    const answer = await goto(url, options);
    if (options?.waitUntil === undefined) await ready();
    return answer;
  };
  page.reload = async (options) => {
    const answer = await reload(options);
    if (options?.waitUntil === undefined) await ready();
    return answer;
  };
}

/** In the page. */
function isInteractive(controls: string): boolean {
  return [...document.body.querySelectorAll(controls)].every((control) =>
    Object.keys(control).some((key) => key.startsWith('__reactProps$')),
  );
}
