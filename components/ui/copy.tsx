/**
 * Copies text to the clipboard. `navigator.clipboard` is absent on plain http; a selected text area works.
 * @param beside parent of the text area: inside an open dialog, which takes the focus back from outside.
 * @throws Error when the browser refuses.
 */
export async function copyText(text: string, beside: HTMLElement = document.body): Promise<void> {
  if (window.isSecureContext && navigator.clipboard) return navigator.clipboard.writeText(text);
  const focused = document.activeElement;
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'fixed opacity-0';
  beside.append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  if (!done) throw new Error('The browser blocked copying');
}
