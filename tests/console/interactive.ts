import type { Page } from 'playwright/test';

const controls = 'button, input:not([type="hidden"]), select, textarea, [role="combobox"], [tabindex="0"]';

/**
 * Makes `goto` and `reload` of a page wait until React has attached itself to every control that the server
 * rendered, because an earlier click or focus may be lost. Visits with another `waitUntil` do not wait.
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

/** Runs in the page. */
function isInteractive(controls: string): boolean {
  return [...document.body.querySelectorAll(controls)].every((control) =>
    Object.keys(control).some((key) => key.startsWith('__reactProps$')),
  );
}
