import type { Attachment } from '#lib/console/playground/draft';

/** With a third more for Base64, this is below the gateway's limit for bodies. */
const mostBytes = 20 * 1024 * 1024;

/** Reads selected files into memory. @returns `refused`: a sentence about files left out; null: none. */
export async function readFiles(
  chosen: readonly File[],
  accepted: string,
  held: readonly Attachment[],
): Promise<{ files: Attachment[]; refused: string | null }> {
  const types = accepted.split(',').filter(Boolean);
  const fitting = chosen.filter(({ type }) => types.includes(type));
  const bytes = held.reduce((sum, { base64 }) => sum + base64.length * 0.75, 0);
  const all = fitting.reduce((sum, { size }) => sum + size, bytes);
  if (all > mostBytes) return { files: [], refused: 'Attachments can have at most 20 MB in total.' };
  const files = await Promise.all(fitting.map(readFile));
  const strange = chosen.find(({ type }) => !types.includes(type));
  const refused = strange
    ? `${strange.name} was left out: this model and protocol accept ${types.join(', ') || 'no files'}.`
    : null;
  return { files, refused };
}

function readFile(file: File): Promise<Attachment> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onerror = () => reject(reader.error);
    reader.onload = () => {
      const url = typeof reader.result === 'string' ? reader.result : '';
      resolve({ name: file.name, mediaType: file.type, base64: url.slice(url.indexOf(',') + 1) });
    };
    reader.readAsDataURL(file);
  });
}
