import type { Ask, AskedMedia } from '#lib/core/families/family';
import { PARTIAL_TOKENS } from '#lib/core/families/images/output';
import { outputTokensOf } from '#lib/core/families/images/tokens';

/** Text that an image model may write with each image. */
const BESIDE_TOKENS = 512;
/** What a nested model writes to draw a vector graphic. */
const NESTED_TOKENS = 8_192;
/** Frames of a moving picture whose request names none. */
const SILENT_FRAMES = 9;

/** The images that a request asks for. */
export function askedImages({ scan, choices, nested }: Pick<Ask, 'scan' | 'choices' | 'nested'>): AskedMedia {
  const value = (path: string) => scan.found.get(path)?.value;
  const [size, quality] = [textOf(value('size')), textOf(value('quality'))];
  const moving = value('output_format') === 'gif';
  const frames = moving ? Math.max(1, numberOf(value('frame_count')) ?? SILENT_FRAMES) : 1;
  const partial = (numberOf(value('partial_images')) ?? 0) * PARTIAL_TOKENS;
  const each = outputTokensOf(size, quality) * frames + partial + BESIDE_TOKENS;
  return {
    tokens: choices * (each + (nested ? NESTED_TOKENS : 0)),
    unit: 'image',
    quantity: choices,
    names: namesOf(size, quality),
  };
}

/** A quality that is left to the provider may be its best: then no entry fits, and the most expensive one is held. */
function namesOf(size: string | null, quality: string | null): readonly string[] {
  if (size === null || quality === null) return [size ?? quality ?? ''];
  return [`${size}/${quality}`, size, quality];
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
